#include "runtime/cuda/cuda_backend.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <tuple>
#include <type_traits>

#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/driver_function.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/energy_meter.h"

namespace smemtune {

namespace {

[[noreturn]] void fail(cudaError_t error, const char* what) {
    (void)cudaGetLastError();  // clears the error, which later calls would report again
    const auto text = std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
    switch (error) {
        // After each of the errors from IllegalAddress to LaunchFailure, the CUDA context is unusable.
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure: throw DeviceFault(text);
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidClusterSize:
        case cudaErrorLaunchOutOfResources:
        case cudaErrorInvalidValue:
        case cudaErrorInvalidKernelImage:
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorSymbolNotFound: throw LaunchError(text);
        case cudaErrorMemoryAllocation: throw OutOfMemory(text);
        default: throw DeviceError(text);
    }
}

void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) fail(error, what);
}

template <auto close>
struct Closer {
    template <class Handle>
    void operator()(Handle* handle) const {
        close(handle);
    }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Closer<cudaStreamDestroy>>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Closer<cudaEventDestroy>>;
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Closer<cudaGraphDestroy>>;
using GraphExec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Closer<cudaGraphExecDestroy>>;
using Library = std::unique_ptr<std::remove_pointer_t<cudaLibrary_t>, Closer<cudaLibraryUnload>>;

std::unique_ptr<Stream> new_stream() {
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "create a stream");
    return std::make_unique<Stream>(created);
}

std::unique_ptr<Event> new_event() {
    cudaEvent_t created = nullptr;
    check(cudaEventCreate(&created), "create an event");
    return std::make_unique<Event>(created);
}

// A value that is made at its first use. If several threads use the value for the first time at once, one of them makes
// it.
template <class Value>
class Lazy {
public:
    explicit Lazy(std::function<std::unique_ptr<Value>()> make) : make_(std::move(make)) {}
    Value* operator->() {
        std::call_once(once_, [&] { value_ = make_(); });
        return value_.get();
    }

private:
    std::function<std::unique_ptr<Value>()> make_;
    std::once_flag once_;
    std::unique_ptr<Value> value_;
};

// While an object exists, its GPU is the calling thread's current device. The destructor restores the earlier device.
class Current {
public:
    explicit Current(int ordinal) {
        check(cudaGetDevice(&before_), "current device");
        if (before_ != ordinal) check(cudaSetDevice(ordinal), "set device");
        changed_ = before_ != ordinal;
    }
    ~Current() {
        if (changed_) cudaSetDevice(before_);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    int before_ = 0;
    bool changed_ = false;
};

// While an object exists, the thread that made it may load code and allocate memory during stream captures. Without the
// object, CUDA forbids this during the thread's own captures, and during any thread's captures in global mode
// (cudaThreadExchangeStreamCaptureMode, CUDA Runtime API, "Stream Management").
class DuringCapture {
public:
    DuringCapture() { check(cudaThreadExchangeStreamCaptureMode(&mode_), "capture mode"); }
    ~DuringCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    DuringCapture(const DuringCapture&) = delete;
    DuringCapture& operator=(const DuringCapture&) = delete;

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Waits for running launches before memory is freed or code is unloaded, because CUDA does not document that freeing
// and unloading wait. Returns false if a stream is captured: the caller must not free or unload then, because
// synchronising the device would invalidate the capture. A query of the default stream detects a capture without
// invalidating it. The query does not detect the capture of a stream that was made with cudaStreamNonBlocking. After a
// device fault the function returns true: nothing runs any more.
bool wait_before_release(int ordinal) noexcept {
    int before = 0;
    if (cudaGetDevice(&before) != cudaSuccess) return true;
    if (before != ordinal) cudaSetDevice(ordinal);
    auto status = cudaStreamCaptureStatusNone;
    auto result = cudaStreamIsCapturing(cudaStreamLegacy, &status);
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    if (before != ordinal) cudaSetDevice(before);
    if (result == cudaSuccess) return true;
    (void)cudaGetLastError();  // clears the error, which later calls would report again
    return result != cudaErrorStreamCaptureUnsupported && result != cudaErrorStreamCaptureInvalidated &&
           result != cudaErrorStreamCaptureImplicit;
}

class CudaKernel : public LoadedKernel {
public:
    CudaKernel(int ordinal, const Binary& binary, std::int64_t dynamic_shared_bytes) : ordinal_(ordinal) {
        cudaLibrary_t library = nullptr;
        check(cudaLibraryLoadData(&library, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
        library_.reset(library);
        check(cudaLibraryGetKernel(&kernel_, library, mangled_name(binary.code, binary.entry).c_str()),
              "find the kernel");
        // The limit of dynamic shared memory is set once, at load. Setting it at each launch would race with launches
        // from other threads.
        if (dynamic_shared_bytes > 0) {
            check(cudaFuncSetAttribute(function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(dynamic_shared_bytes)),
                  "allow dynamic shared memory");
        }
        cudaFuncAttributes attributes{};
        check(cudaFuncGetAttributes(&attributes, function()), "kernel attributes");
        constexpr int portable = 8;  // every device with clusters supports clusters of 8 blocks
        if (attributes.requiredClusterWidth > portable) {
            check(cudaFuncSetAttribute(function(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                  "allow a cluster of more than 8 blocks");
        }
        struct Driver {
            decltype(cuKernelGetFunction)* find = driver_function<decltype(cuKernelGetFunction)>("cuKernelGetFunction");
            decltype(cuLaunchKernel)* enqueue = driver_function<decltype(cuLaunchKernel)>("cuLaunchKernel");
            decltype(cuLaunchKernelEx)* enqueue_early = driver_function<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx");
        };
        static const Driver driver;
        if (driver.find == nullptr || driver.find(&in_context_, kernel_) != CUDA_SUCCESS) return;
        enqueue_ = driver.enqueue;
        // A stream capture accepts programmatic dependent launches (enqueue_early) only from CUDA 12.3 on.
        int version = 0;
        check(cudaDriverGetVersion(&version), "driver version");
        if (version >= 12030 && waits_for_previous_kernel(binary.code)) enqueue_early_ = driver.enqueue_early;
    }

    ~CudaKernel() override {
        if (!wait_before_release(ordinal_)) (void)library_.release();
    }
    CudaKernel(const CudaKernel&) = delete;
    CudaKernel& operator=(const CudaKernel&) = delete;

    void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const override {
        void* to = nullptr;
        std::size_t bytes = 0;
        if (cudaLibraryGetGlobal(&to, &bytes, library_.get(), symbol.name.c_str()) != cudaSuccess) {
            (void)cudaGetLastError();
            bytes = 0;
        }
        must_have_room(symbol, bytes);
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(symbol.bytes), cudaMemcpyDeviceToDevice, stream),
              "fill a symbol");
    }

    // Launches through the driver, because a launch through the CUDA runtime takes about 100 ns longer.
    void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const override {
        const bool enqueued =
            enqueue_early_ != nullptr ? enqueue_early(stream, launch, arguments) : enqueue(stream, launch, arguments);
        if (!enqueued) launch_by_runtime(stream, launch, arguments);
    }

private:
    static unsigned size(std::int64_t value) { return static_cast<unsigned>(value); }

    [[nodiscard]] bool enqueue(StreamHandle stream, const Launch& launch, void* const* arguments) const {
        const auto& [grid, block] = std::tie(launch.grid, launch.block);
        return enqueue_ != nullptr && enqueue_(in_context_, size(grid[0]), size(grid[1]), size(grid[2]), size(block[0]),
                                               size(block[1]), size(block[2]), size(launch.dynamic_shared_bytes),
                                               stream, const_cast<void**>(arguments), nullptr) == CUDA_SUCCESS;
    }

    // A programmatic dependent launch: the kernel may start before the previous kernel of the stream has ended.
    [[nodiscard]] bool enqueue_early(StreamHandle stream, const Launch& launch, void* const* arguments) const {
        const auto& [grid, block] = std::tie(launch.grid, launch.block);
        CUlaunchAttribute early{};
        early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        early.value.programmaticStreamSerializationAllowed = 1;
        const CUlaunchConfig config{.gridDimX = size(grid[0]),
                                    .gridDimY = size(grid[1]),
                                    .gridDimZ = size(grid[2]),
                                    .blockDimX = size(block[0]),
                                    .blockDimY = size(block[1]),
                                    .blockDimZ = size(block[2]),
                                    .sharedMemBytes = size(launch.dynamic_shared_bytes),
                                    .hStream = stream,
                                    .attrs = &early,
                                    .numAttrs = 1};
        return enqueue_early_(&config, in_context_, const_cast<void**>(arguments), nullptr) == CUDA_SUCCESS;
    }

    // Launches through the CUDA runtime after the driver has refused the launch. The runtime makes a context current if
    // the thread has none, and its errors have names.
    void launch_by_runtime(StreamHandle stream, const Launch& launch, void* const* arguments) const {
        int current = 0;
        check(cudaGetDevice(&current), "current device");
        if (current != ordinal_) {
            throw LaunchError("the kernel is loaded on GPU " + std::to_string(ordinal_) + ", but GPU " +
                              std::to_string(current) + " is current; call cudaSetDevice(" + std::to_string(ordinal_) +
                              ") first");
        }
        const auto extents = [](const std::array<std::int64_t, 3>& v) {
            return dim3(size(v[0]), size(v[1]), size(v[2]));
        };
        check(cudaLaunchKernel(function(), extents(launch.grid), extents(launch.block), const_cast<void**>(arguments),
                               static_cast<std::size_t>(launch.dynamic_shared_bytes), stream),
              "launch");
    }

    [[nodiscard]] const void* function() const { return reinterpret_cast<const void*>(kernel_); }

    int ordinal_;
    Library library_;
    cudaKernel_t kernel_ = nullptr;
    CUfunction in_context_ = nullptr;                      // the kernel in the device's primary context
    decltype(cuLaunchKernel)* enqueue_ = nullptr;          // null if launches must go through the CUDA runtime
    decltype(cuLaunchKernelEx)* enqueue_early_ = nullptr;  // null if launches do not start early
};

class CudaMemory : public Memory {
public:
    CudaMemory(int ordinal, std::size_t bytes) : ordinal_(ordinal), size_(bytes) {
        check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)),
              ("allocate " + std::to_string(bytes) + " bytes").c_str());
    }
    ~CudaMemory() override {
        if (wait_before_release(ordinal_)) cudaFree(data_);
    }
    CudaMemory(const CudaMemory&) = delete;
    CudaMemory& operator=(const CudaMemory&) = delete;

    [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(data_); }
    [[nodiscard]] std::size_t size() const override { return size_; }

private:
    int ordinal_;
    void* data_ = nullptr;
    std::size_t size_;
};

class CudaTimer : public StreamTimer {
public:
    explicit CudaTimer(StreamHandle stream) : stream_(stream) {
        const DuringCapture allowed;
        begin_ = new_event();
        end_ = new_event();
        check(cudaEventRecord(begin_->get(), stream_), "record an event");
    }
    void end() override { check(cudaEventRecord(end_->get(), stream_), "record an event"); }
    [[nodiscard]] std::optional<double> us() override {
        const DuringCapture allowed;
        const auto status = cudaEventQuery(end_->get());
        if (status == cudaErrorNotReady) return std::nullopt;
        check(status, "run");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin_->get(), end_->get()), "elapsed time");
        return static_cast<double>(milliseconds) * 1e3;
    }

private:
    StreamHandle stream_;
    std::unique_ptr<Event> begin_, end_;
};

class CudaBackend : public Backend {
public:
    explicit CudaBackend(int ordinal) : ordinal_(ordinal), device_(cuda_device(ordinal)) {
        const Current current(ordinal_);
        check(cudaFree(nullptr), "create a context");
    }

    [[nodiscard]] const Device& device() const override { return device_; }
    void make_current() override { check(cudaSetDevice(ordinal_), "set device"); }

    [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Binary& binary, std::int64_t dynamic_shared_bytes) override {
        const Current current(ordinal_);
        const DuringCapture allowed;
        return std::make_unique<CudaKernel>(ordinal_, binary, dynamic_shared_bytes);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        const Current current(ordinal_);
        const DuringCapture allowed;
        return std::make_unique<CudaMemory>(ordinal_, bytes);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) override {
        const Current current(ordinal_);
        const DuringCapture allowed;
        auto memory = std::make_unique<CudaMemory>(ordinal_, bytes);
        // Uses `fill_stream_`, because time_us() may be capturing `stream_`.
        check(cudaMemsetAsync(memory->data(), 0, bytes, fill_stream_->get()), "fill with zeros");
        check(cudaStreamSynchronize(fill_stream_->get()), "fill with zeros");
        return memory;
    }
    void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle stream) override {
        check(cudaMemsetAsync(at, 0, bytes, stream), "fill with zeros");
    }
    [[nodiscard]] bool is_capturing(StreamHandle stream) override {
        auto status = cudaStreamCaptureStatusNone;
        const auto result = cudaStreamIsCapturing(stream, &status);
        // cudaErrorStreamCaptureImplicit means that `stream` is the default stream while another stream is captured.
        // The function does not throw here, because CUDA will refuse the launch later, with a clearer message.
        if (result == cudaErrorStreamCaptureImplicit) {
            (void)cudaGetLastError();
            return false;
        }
        check(result, "capture status");
        return status != cudaStreamCaptureStatusNone;
    }
    [[nodiscard]] std::unique_ptr<StreamTimer> start_timer(StreamHandle stream) override {
        return std::make_unique<CudaTimer>(stream);
    }
    void copy_to_device(Memory& to, std::span<const std::byte> from) override {
        const Current current(ordinal_);
        check(cudaMemcpy(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice), "copy to the device");
    }
    void copy_to_host(std::span<std::byte> to, const Memory& from) override {
        const Current current(ordinal_);
        check(cudaMemcpy(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost), "copy from the device");
    }
    [[nodiscard]] std::size_t free_bytes() override {
        const Current current(ordinal_);
        std::size_t free = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&free, &total), "free memory");
        return free;
    }
    void synchronize() override {
        const Current current(ordinal_);
        check(cudaDeviceSynchronize(), "run");
    }

    [[nodiscard]] double time_us(std::span<const Call> calls) override {
        const Current current(ordinal_);
        return with_enqueue(calls, [&](const auto& enqueue) { return between_events(enqueue); });
    }

    // Reads the energy counter while the next batch runs, so the GPU is never idle.
    [[nodiscard]] double energy_uj(std::span<const Call> calls) override {
        auto counter = sensors_->millijoules();
        if (!counter) return 0;
        const Current current(ordinal_);
        return with_enqueue(calls, [&](const auto& enqueue) {
            const std::array events{begin_->get(), end_->get()};
            const auto issue_batch = [&](std::size_t turn) {
                enqueue();
                check(cudaEventRecord(events[turn % 2], stream_->get()), "record an event");
            };
            EnergyMeter meter;
            const auto begin = std::chrono::steady_clock::now();
            issue_batch(0);
            for (std::size_t turn = 0; counter && !meter.finished(); ++turn) {
                issue_batch(turn + 1);
                check(cudaEventSynchronize(events[turn % 2]), "run");
                counter = sensors_->millijoules();
                const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
                if (counter) meter.add(elapsed.count(), *counter, calls.size());
            }
            check(cudaStreamSynchronize(stream_->get()), "run");
            return meter.launch_uj();
        });
    }

    [[nodiscard]] std::int64_t clock_khz() override { return sensors_->clock_khz(); }

private:
    void issue(std::span<const Call> calls) {
        for (const auto& call : calls) call.kernel->launch(stream_->get(), call.arguments);
    }

    // Calls `use` with a function that enqueues the batch. Several launches are enqueued as a graph, which hides the
    // host's microseconds per launch.
    template <class Use>
    double with_enqueue(std::span<const Call> calls, const Use& use) {
        if (calls.size() == 1) return use([&] { issue(calls); });
        check(cudaStreamBeginCapture(stream_->get(), cudaStreamCaptureModeThreadLocal), "begin a graph");
        cudaGraph_t captured = nullptr;
        try {
            issue(calls);
        } catch (...) {
            cudaStreamEndCapture(stream_->get(), &captured);  // otherwise the stream would remain in capture mode
            const Graph unfinished(captured);
            throw;
        }
        check(cudaStreamEndCapture(stream_->get(), &captured), "end a graph");
        const Graph graph(captured);
        cudaGraphExec_t instantiated = nullptr;
        check(cudaGraphInstantiate(&instantiated, captured, 0), "instantiate a graph");
        const GraphExec executable(instantiated);
        check(cudaGraphUpload(instantiated, stream_->get()), "upload a graph");
        return use([&] { check(cudaGraphLaunch(instantiated, stream_->get()), "launch a graph"); });
    }

    template <class Enqueue>
    double between_events(const Enqueue& enqueue) {
        check(cudaEventRecord(begin_->get(), stream_->get()), "record an event");
        enqueue();
        check(cudaEventRecord(end_->get(), stream_->get()), "record an event");
        check(cudaEventSynchronize(end_->get()), "run");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin_->get(), end_->get()), "elapsed time");
        return static_cast<double>(milliseconds) * 1e3;
    }

    int ordinal_;
    Device device_;
    // Sensors, streams and events are made at their first use. An application that only launches needs none of them,
    // so it does not wait for them.
    Lazy<GpuSensors> sensors_{[this] { return std::make_unique<GpuSensors>(cuda_bus_id(ordinal_)); }};
    Lazy<Stream> stream_{new_stream}, fill_stream_{new_stream};
    Lazy<Event> begin_{new_event}, end_{new_event};
};

}  // namespace

std::unique_ptr<Backend> open_cuda(int ordinal) { return std::make_unique<CudaBackend>(ordinal); }

}  // namespace smemtune
