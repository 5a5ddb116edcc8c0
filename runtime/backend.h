// A backend is one compute device: load, allocate, copy, launch, time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/compiler.h"
#include "templates/launch/launch.h"

struct CUstream_st;  // what cudaStream_t points to, without a CUDA header

namespace smemtune {

using StreamHandle = CUstream_st*;

/// The device refuses to load or launch a kernel; it can go on with the next one.
class LaunchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A kernel did what it must not, such as an illegal access. On a GPU nothing in this process can use the device again.
class DeviceFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device or its driver cannot be used, or is out of memory.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device has too little memory left; it can go on with less.
class OutOfMemory : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Machine code that is loaded on a device. Launching is const, from any thread.
class LoadedKernel {
public:
    virtual ~LoadedKernel() = default;
    /// `arguments[i]` points to the value of the kernel's i-th parameter. Asynchronous on a GPU; on the host device it
    /// returns when done. On a GPU no lock and no allocation; a kernel with a workspace (workspace.h) takes the
    /// stream's, under a lock. Throws LaunchError, DeviceFault.
    virtual void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const = 0;
};

/// A kernel of one problem that knows its launch: a configuration of a template (ConfiguredKernel), a kernel that the
/// runtime fetched, or a call of a vendor's library.
class BoundKernel {
public:
    virtual ~BoundKernel() = default;
    /// `arguments[i]` points to the value of the operation's i-th argument. Asynchronous on a GPU. Throws LaunchError,
    /// DeviceFault.
    virtual void launch(StreamHandle stream, std::span<void* const> arguments) const = 0;
};

/// Device memory, released with its last owner.
class Memory {
public:
    virtual ~Memory() = default;
    [[nodiscard]] virtual std::byte* data() const = 0;  ///< a device address
    [[nodiscard]] virtual std::size_t size() const = 0;
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
    /// Makes this the calling thread's device: launches on the default stream go there.
    virtual void make_current() {}
    /// Throws LaunchError. `dynamic_shared_bytes` is the most that launches will ask for.
    [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Binary& binary,
                                                             std::int64_t dynamic_shared_bytes) = 0;
    /// At least 256-byte aligned on a GPU, element-aligned on the host, where the end of the memory is the end of what
    /// may be accessed. Throws OutOfMemory.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Likewise; every byte is 0.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) = 0;
    virtual void copy_to_device(Memory& to, std::span<const std::byte> from) = 0;
    virtual void copy_to_host(std::span<std::byte> to, const Memory& from) = 0;
    /// Memory that nobody holds now, be it this process or another.
    [[nodiscard]] virtual std::size_t free_bytes() = 0;
    /// Waits for everything launched. Throws DeviceFault.
    virtual void synchronize() = 0;
    /// Device time of the whole batch, launched back to back; as one graph where that hides the launches' host time.
    [[nodiscard]] virtual double time_us(std::span<const Call> calls) = 0;
    /// Energy of one launch, in microjoules, as the mean over the batch repeated for a third of a second and more; 0
    /// when unknown. Of the whole device: what else runs there counts as well.
    [[nodiscard]] virtual double energy_uj(std::span<const Call> /*calls*/) { return 0; }
    /// The multiprocessor clock now; 0 when unknown.
    [[nodiscard]] virtual std::int64_t clock_khz() { return 0; }
};

struct BackendOptions {
    unsigned seed = 0;     ///< host: of the order in which the threads of a block run
    unsigned threads = 0;  ///< host: blocks run at once; 0 is one per core
};

/// `0`, `1`, ... for a GPU, `host` for the CPU, `auto` for the first GPU or else the host. Throws DeviceError naming
/// what there is.
std::unique_ptr<Backend> open_backend(const std::string& name, const BackendOptions& options = {});

/// A device and the name that opens it.
struct ListedDevice {
    std::string name;
    Device device;
};
/// Every GPU, then the host. Creates no context.
std::vector<ListedDevice> list_devices();

/// Versions of what stands between the program and `device`: driver and CUDA runtime; empty for the host.
std::string platform_versions(const Device& device);

/// The device that `name` opens, without opening it. Throws DeviceError naming what there is.
ListedDevice find_device(const std::string& name);

}  // namespace smemtune
