// The interface of a compute device: load, allocate, copy, launch, time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/compiler.h"
#include "templates/launch/launch.h"

struct CUstream_st;  // cudaStream_t points to it; declared here, so no CUDA header is needed

namespace smemtune {

using StreamHandle = CUstream_st*;

/// The device refused to load or launch a kernel. The device can still be used.
class LaunchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A kernel did something illegal, such as an access out of bounds. On a GPU, this process can no longer use the
/// device.
class DeviceFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device or its driver cannot be used, or is out of memory.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device has too little free memory. It can still be used with less.
class OutOfMemory : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Machine code that is loaded on a device. Any thread may launch it. It may be destroyed while launches run: the
/// destructor waits for the device and then unloads the code. It must not be destroyed while a stream is captured:
/// waiting would invalidate the capture.
class LoadedKernel {
public:
    virtual ~LoadedKernel() = default;
    /// `arguments[i]` points to the value of the kernel's i-th parameter. The launch is asynchronous on a GPU; on the
    /// host device it returns when the kernel is done. On a GPU it takes no lock and allocates nothing, except that a
    /// kernel with a workspace (workspace.h) takes a lock to find its stream's workspace. Throws LaunchError,
    /// DeviceFault.
    virtual void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const = 0;
    /// Allocates what a launch on `stream` would allocate first. The stream is not captured. Throws OutOfMemory.
    virtual void prepare(StreamHandle stream) const { (void)stream; }
    /// Copies device memory to an array of the kernel's source (SymbolArgument), after the earlier launches on
    /// `stream`. Launches on other streams see the same array. Asynchronous on a GPU. Throws LaunchError.
    virtual void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const;
};

/// Throws LaunchError if the array that `symbol` names, of `bytes` bytes, is too short; 0: the code has none.
void must_have_room(const SymbolArgument& symbol, std::size_t bytes);

/// A kernel of one problem together with its launch: a configuration of a template (ConfiguredKernel), a kernel that
/// the runtime fetched, or a call of a vendor's library.
class BoundKernel {
public:
    virtual ~BoundKernel() = default;
    /// `arguments[i]` points to the value of the operation's i-th argument. Asynchronous on a GPU. Throws LaunchError,
    /// DeviceFault.
    virtual void launch(StreamHandle stream, std::span<void* const> arguments) const = 0;
    /// Copies the arguments that are no parameters of the kernel to the arrays of its source (SymbolArgument), for
    /// later launches with the same values. A kernel that does so at each launch does nothing here.
    virtual void fill_symbols(StreamHandle /*stream*/, std::span<void* const> /*arguments*/) const {}
};

/// Device memory. Its destructor waits for the device, like LoadedKernel's, and releases the memory.
class Memory {
public:
    virtual ~Memory() = default;
    [[nodiscard]] virtual std::byte* data() const = 0;  ///< a device address
    [[nodiscard]] virtual std::size_t size() const = 0;
};

/// Measures the device time between two points of a stream: its start and end().
class StreamTimer {
public:
    virtual ~StreamTimer() = default;
    /// Enqueues the end on the stream where the timer was started.
    virtual void end() = 0;
    /// In microseconds; nothing until the stream has reached the end. Works while any thread captures a stream.
    [[nodiscard]] virtual std::optional<double> us() = 0;
};

class Backend {
public:
    /// One launch of a batch to be timed.
    struct Call {
        const BoundKernel* kernel;
        std::vector<void*> arguments;
    };

    virtual ~Backend() = default;
    [[nodiscard]] virtual const Device& device() const = 0;
    /// Makes this device current for the calling thread: launches on the default stream go to it.
    virtual void make_current() {}
    /// Loads and allocations work while any thread captures a stream, in every capture mode.
    /// Throws LaunchError. `dynamic_shared_bytes` is the largest dynamic shared memory of later launches.
    [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Binary& binary,
                                                             std::int64_t dynamic_shared_bytes) = 0;
    /// On a GPU the memory is aligned to at least 256 bytes. On the host it is aligned to elements, and any access past
    /// its last byte is out of bounds. Throws OutOfMemory.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Like allocate(), with every byte set to 0.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) = 0;
    /// Sets memory to 0 on `stream`, after the earlier launches there. Asynchronous on a GPU.
    virtual void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle stream) = 0;
    /// Whether launches on `stream` become part of a graph now instead of running.
    [[nodiscard]] virtual bool is_capturing(StreamHandle /*stream*/) { return false; }
    /// Null if the device has no such timers. Must not be called while `stream` is captured.
    [[nodiscard]] virtual std::unique_ptr<StreamTimer> start_timer(StreamHandle /*stream*/) { return nullptr; }
    virtual void copy_to_device(Memory& to, std::span<const std::byte> from) = 0;
    virtual void copy_to_host(std::span<std::byte> to, const Memory& from) = 0;
    /// Memory that no process holds now.
    [[nodiscard]] virtual std::size_t free_bytes() = 0;
    /// Waits for everything launched. Throws DeviceFault.
    virtual void synchronize() = 0;
    /// Device time of the whole batch, launched back to back. The batch runs as one graph if that hides the host's time
    /// per launch.
    [[nodiscard]] virtual double time_us(std::span<const Call> calls) = 0;
    /// Energy of one launch in microjoules: the mean over batches repeated for at least a third of a second; 0 when
    /// unknown. The counter covers the whole device, so other work on it counts, too.
    [[nodiscard]] virtual double energy_uj(std::span<const Call> /*calls*/) { return 0; }
    /// The current multiprocessor clock; 0 when unknown.
    [[nodiscard]] virtual std::int64_t clock_khz() { return 0; }
};

struct BackendOptions {
    unsigned seed = 0;     ///< host: decides the order in which the threads of a block run
    unsigned threads = 0;  ///< host: blocks that run at once; 0 means one per core
};

/// Opens a device: `0`, `1`, ... for a GPU, `host` for the CPU, `auto` for the first GPU or else the host. Throws
/// DeviceError, which lists the devices of this machine.
std::unique_ptr<Backend> open_backend(const std::string& name, const BackendOptions& options = {});

/// A device and the name that opens it.
struct ListedDevice {
    std::string name;
    Device device;
};
/// Every GPU, then the host. Creates no context.
std::vector<ListedDevice> list_devices();

/// Versions of the software below `device`: driver and CUDA runtime; empty for the host.
std::string platform_versions(const Device& device);

/// The device that `name` would open, without opening it. Throws DeviceError, which lists the devices of this machine.
ListedDevice find_device(const std::string& name);

}  // namespace smemtune
