#include "runtime/host/host_backend.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/host/block_threads.h"
#include "runtime/host/guarded_memory.h"
#include "runtime/host/shared_object.h"
#include "templates/launch/limits.h"

namespace smemtune {

namespace {

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "CPU";
}

// Bytes of memory that are available without swapping, including caches that the system would release. 0 when unknown.
std::size_t available_bytes() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(line.find(':') + 1)) * 1024;
    }
    return 0;
}

class HostBackend : public Backend {
public:
    explicit HostBackend(const BackendOptions& options) : shared_(std::make_shared<Shared>(options)) {}

    [[nodiscard]] const Device& device() const override { return shared_->device; }

    [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Binary& binary, std::int64_t) override {
        return std::make_unique<Kernel>(binary, shared_);
    }

    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        return std::make_unique<Registered>(bytes, shared_);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) override {
        return allocate(bytes);  // the operating system gives zeroed pages
    }
    void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle) override { std::memset(at, 0, bytes); }
    void copy_to_device(Memory& to, std::span<const std::byte> from) override {
        std::memcpy(to.data(), from.data(), from.size());
    }
    void copy_to_host(std::span<std::byte> to, const Memory& from) override {
        std::memcpy(to.data(), from.data(), to.size());
    }
    [[nodiscard]] std::size_t free_bytes() override { return available_bytes(); }
    void synchronize() override { std::fflush(stdout); }  // flushes what kernels printed, as CUDA does

    [[nodiscard]] std::unique_ptr<StreamTimer> start_timer(StreamHandle) override {
        return std::make_unique<Timer>(shared_);
    }

    [[nodiscard]] double time_us(std::span<const Call> calls) override {
        const auto before = shared_->threads.total_us();
        for (const auto& call : calls) call.kernel->launch(nullptr, call.arguments);
        return shared_->threads.total_us() - before;
    }

private:
    // The state that a backend shares with its kernels and memories. The kernels and memories keep the state alive
    // after the backend is destroyed.
    struct Shared {
        explicit Shared(const BackendOptions& options)
            : threads(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency()),
                      options.seed) {}
        const Device device = host_device();
        std::mutex mutex;  // locked during a launch: only one launch runs at a time
        BlockThreads threads;
        std::vector<const GuardedMemory*> memories;
    };

    // Measures the CPU time of all launches between its start and end(), including launches from other threads. A
    // launch is done when launch() returns, so the time is known at end().
    class Timer : public StreamTimer {
    public:
        explicit Timer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), begin_us_(now_us()) {}
        void end() override { end_us_ = now_us(); }
        [[nodiscard]] std::optional<double> us() override { return end_us_ - begin_us_; }

    private:
        [[nodiscard]] double now_us() {
            const std::scoped_lock lock(shared_->mutex);
            return shared_->threads.total_us();
        }
        std::shared_ptr<Shared> shared_;
        double begin_us_;
        double end_us_ = 0;
    };

    class Registered : public GuardedMemory {
    public:
        Registered(std::size_t bytes, std::shared_ptr<Shared> shared)
            : GuardedMemory(bytes), shared_(std::move(shared)) {
            const std::scoped_lock lock(shared_->mutex);
            shared_->memories.push_back(this);
        }
        ~Registered() override {
            const std::scoped_lock lock(shared_->mutex);
            std::erase(shared_->memories, this);
        }
        Registered(const Registered&) = delete;
        Registered& operator=(const Registered&) = delete;

    private:
        std::shared_ptr<Shared> shared_;
    };

    class Kernel : public LoadedKernel {
    public:
        Kernel(const Binary& binary, std::shared_ptr<Shared> shared)
            : object_(binary.code), checked_(binary.is_checked()), shared_(std::move(shared)) {
            object_.find("smemtune_call", entry_.call);
            object_.find("smemtune_current", entry_.current);
        }

        void launch(StreamHandle, const Launch& launch, void* const* arguments) const override {
            const auto index = [](const std::array<std::int64_t, 3>& v) {
                return SmemtuneIndex{static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]),
                                     static_cast<unsigned>(v[2])};
            };
            if (const auto broken = broken_limit(launch, shared_->device)) throw LaunchError(*broken);
            const std::scoped_lock lock(shared_->mutex);
            std::vector<SmemtuneRange> ranges;
            for (const auto* memory : shared_->memories) ranges.push_back(memory->range());
            BlockThreads::Work work{.entry = &entry_,
                                    .prototype = {.block_size = index(launch.block), .grid_size = index(launch.grid)},
                                    .arguments = arguments,
                                    .blocks = launch.blocks(),
                                    .dynamic_shared_bytes = static_cast<std::size_t>(launch.dynamic_shared_bytes),
                                    .checked = checked_,
                                    .ranges = &ranges,
                                    .locate = [this](const void* address) { return object_.locate(address); }};
            shared_->threads.run(work);
        }

        void fill_symbol(StreamHandle, const SymbolArgument& symbol, const void* from) const override {
            void* (*find)(const char*, unsigned long*) = nullptr;
            object_.find("smemtune_symbol", find);
            unsigned long bytes = 0;
            void* const to = find(symbol.name.c_str(), &bytes);
            must_have_room(symbol, to == nullptr ? 0 : bytes);
            const std::scoped_lock lock(shared_->mutex);
            std::memcpy(to, from, static_cast<std::size_t>(symbol.bytes));
        }

    private:
        SharedObject object_;
        HostEntry entry_;
        bool checked_;
        std::shared_ptr<Shared> shared_;
    };

    std::shared_ptr<Shared> shared_;
};

}  // namespace

Device host_device() {
    auto device = model_device("sm_90");
    device.name = "host: " + cpu_name();
    device.compute_capability = 0;
    device.multiprocessors = std::max(1U, std::thread::hardware_concurrency());
    device.l2_bytes = 0;
    device.memory_bytes =
        (sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)) >> 30 << 30;  // rounded down to whole gibibytes
    device.clock_khz = 0;
    return device;
}

std::unique_ptr<Backend> open_host(const BackendOptions& options) { return std::make_unique<HostBackend>(options); }

}  // namespace smemtune
