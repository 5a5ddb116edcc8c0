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

struct CUstream_st;  // cudaStream_t is a pointer to this struct; declaring it here makes CUDA's headers unnecessary

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

/// The device or its driver cannot be used, or the device is out of memory.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device has too little free memory for an allocation. A smaller allocation may succeed.
class OutOfMemory : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Machine code that is loaded on a device. Any thread may launch it. The object may be destroyed while launches run:
/// the destructor waits for the device and then unloads the code. The object must not be destroyed while a stream is
/// captured, because waiting for the device would invalidate the capture.
class LoadedKernel {
public:
    virtual ~LoadedKernel() = default;
    /// `arguments[i]` points to the value of the kernel's i-th parameter. On a GPU the launch is asynchronous; on the
    /// host device launch() returns when the kernel is done. On a GPU, launching a kernel without a workspace takes no
    /// lock and allocates nothing. For a kernel with a workspace, launch() takes a lock to find the workspace of
    /// `stream`. The first launch on `stream` may allocate the workspace (workspace.h). Throws LaunchError,
    /// DeviceFault, OutOfMemory.
    virtual void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const = 0;
    /// Allocates now what the first launch on `stream` would allocate. Must not be called while `stream` is captured.
    /// Throws OutOfMemory.
    virtual void prepare(StreamHandle stream) const { (void)stream; }
    /// Copies from the device address `from` to a `__constant__` or `__device__` array of the kernel's source
    /// (SymbolArgument), after the earlier launches on `stream`. Launches on all streams share the array. The copy is
    /// asynchronous on a GPU. Throws LaunchError.
    virtual void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const;
};

/// Throws LaunchError if the array that `symbol` names is shorter than the argument that fills it. `bytes` is the size
/// of the array. If the kernel's code has no array of this name, `bytes` is 0.
void must_have_room(const SymbolArgument& symbol, std::size_t bytes);

/// A kernel with the launch parameters for one problem: a configuration of a template (ConfiguredKernel), a kernel that
/// the runtime fetched, or a call of a vendor's library.
class BoundKernel {
public:
    virtual ~BoundKernel() = default;
    /// Launches the kernel. `arguments[i]` points to the value of the operation's i-th argument. The launch is
    /// asynchronous on a GPU. Throws LaunchError, DeviceFault.
    virtual void launch(StreamHandle stream, std::span<void* const> arguments) const = 0;
    /// Some arguments reach the kernel through an array in its source instead of a parameter (SymbolArgument). Copies
    /// these arguments to their arrays, for later launches with the same values. The implementation in this class does
    /// nothing.
    virtual void fill_symbols(StreamHandle /*stream*/, std::span<void* const> /*arguments*/) const {}
};

/// Device memory. The destructor waits for the device, as LoadedKernel's does, and then releases the memory.
class Memory {
public:
    virtual ~Memory() = default;
    [[nodiscard]] virtual std::byte* data() const = 0;  ///< the device address of the first byte
    [[nodiscard]] virtual std::size_t size() const = 0;
};

/// Measures the device time that a stream takes from the start of the timer to end().
class StreamTimer {
public:
    virtual ~StreamTimer() = default;
    /// Marks the end of the measured time: the moment when the timer's stream has done all launches enqueued so far.
    virtual void end() = 0;
    /// The measured time in microseconds; nullopt until the stream has done the measured work. May be called while a
    /// thread captures a stream.
    [[nodiscard]] virtual std::optional<double> us() = 0;
};

class Backend {
public:
    /// One launch of a batch. time_us() and energy_uj() measure whole batches.
    struct Call {
        const BoundKernel* kernel;
        std::vector<void*> arguments;
    };

    virtual ~Backend() = default;
    [[nodiscard]] virtual const Device& device() const = 0;
    /// Makes this device current for the calling thread. The thread's launches on the default stream then run on this
    /// device.
    virtual void make_current() {}
    /// Loads machine code. `dynamic_shared_bytes` is the largest amount of dynamic shared memory that a later launch
    /// uses. load() and allocate() also work while a thread captures a stream, in every capture mode. Throws
    /// LaunchError.
    [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Binary& binary,
                                                             std::int64_t dynamic_shared_bytes) = 0;
    /// Allocates `bytes` bytes. On a GPU, the memory is aligned to at least 256 bytes. On the host device, the memory
    /// is aligned to 16 bytes. There, an access faults if it begins 15 bytes or more after the end of the memory.
    /// Throws OutOfMemory.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Like allocate(), with every byte set to 0.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) = 0;
    /// Sets `bytes` bytes of device memory, from `at` on, to 0 after the earlier launches on `stream`. Asynchronous on
    /// a GPU.
    virtual void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle stream) = 0;
    /// Whether `stream` is being captured. Launches on it then become part of a graph instead of running.
    [[nodiscard]] virtual bool is_capturing(StreamHandle /*stream*/) { return false; }
    /// Starts a timer on `stream`. Returns null if the device has no timers. Must not be called while `stream` is
    /// captured.
    [[nodiscard]] virtual std::unique_ptr<StreamTimer> start_timer(StreamHandle /*stream*/) { return nullptr; }
    virtual void copy_to_device(Memory& to, std::span<const std::byte> from) = 0;
    virtual void copy_to_host(std::span<std::byte> to, const Memory& from) = 0;
    /// Bytes of device memory that no process uses now.
    [[nodiscard]] virtual std::size_t free_bytes() = 0;
    /// Waits until all launches have ended. Throws DeviceFault.
    virtual void synchronize() = 0;
    /// Device time of the whole batch in microseconds, with the launches back to back. On a GPU, a batch of several
    /// launches runs as one CUDA graph, which hides the host's time per launch.
    [[nodiscard]] virtual double time_us(std::span<const Call> calls) = 0;
    /// Energy of one launch in microjoules; 0 when unknown. The batch is repeated for at least 0.3 s, and the energy is
    /// the mean over all its launches. The device's energy counter includes all other work on the device.
    [[nodiscard]] virtual double energy_uj(std::span<const Call> /*calls*/) { return 0; }
    /// The current clock of the multiprocessors; 0 when unknown.
    [[nodiscard]] virtual std::int64_t clock_khz() { return 0; }
};

struct BackendOptions {
    unsigned seed = 0;     ///< host device: decides the order in which the threads of a block run
    unsigned threads = 0;  ///< host device: number of blocks that run at the same time; 0 means one per core
};

/// Opens a device: `0`, `1`, ... for a GPU, `host` for the CPU, `auto` for the first GPU or, without a GPU, the CPU.
/// Throws DeviceError, which lists the devices of this machine.
std::unique_ptr<Backend> open_backend(const std::string& name, const BackendOptions& options = {});

/// A device and the name that opens it.
struct ListedDevice {
    std::string name;
    Device device;
};
/// Lists every GPU, then the host device, without creating a CUDA context.
std::vector<ListedDevice> list_devices();

/// Versions of the driver and of the CUDA runtime that `device` uses; empty for the host device.
std::string platform_versions(const Device& device);

/// Returns the device that open_backend(name) would open. Throws DeviceError, which lists the devices of this machine.
ListedDevice find_device(const std::string& name);

}  // namespace smemtune
