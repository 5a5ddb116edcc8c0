#include "runtime/host/host_backend.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "runtime/host/block.h"
#include "runtime/host/layout.h"
#include "runtime/process.h"

namespace smemtune {

namespace {

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "CPU";
}

// Without swapping: unlike what is free, it counts what the system's caches would give back. 0 when unknown.
std::size_t available_bytes() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(line.find(':') + 1)) * 1024;
    }
    return 0;
}

// Memory in the middle of a wide stretch of addresses that fault: an index that goes astray, even by gigabytes, hits
// it.
class GuardedMemory : public Memory {
public:
    static constexpr std::size_t moat = std::size_t{4} << 30;

    explicit GuardedMemory(std::size_t bytes) : size_(bytes) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const auto usable = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
        reserved_ = usable + 2 * moat;
        auto* base = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            throw OutOfMemory("the host has no address space for " + std::to_string(bytes) + " bytes");
        base_ = static_cast<std::byte*>(base);
        if (mprotect(base_ + moat, usable, PROT_READ | PROT_WRITE) != 0) {
            munmap(base_, reserved_);
            throw OutOfMemory("the host has no memory for " + std::to_string(bytes) + " bytes");
        }
        // Flush with the end, as far as 16-byte accesses to its beginning allow.
        data_ = base_ + moat + (usable - bytes) / 16 * 16;
    }
    ~GuardedMemory() override { munmap(base_, reserved_); }
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] SmemtuneRange range() const {
        const auto as_text = [](const std::byte* p) { return reinterpret_cast<const char*>(p); };
        return {as_text(base_), as_text(data_), as_text(data_ + size_), as_text(base_ + reserved_)};
    }

private:
    std::byte* base_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t size_, reserved_ = 0;
};

// A shared object in anonymous memory: nothing on disk, and no name that a later one could be taken for.
class SharedObject {
public:
    explicit SharedObject(const std::vector<std::uint8_t>& code) : file_(memfd_create("smemtune-kernel", MFD_CLOEXEC)) {
        if (file_ < 0 || write(file_, code.data(), code.size()) != static_cast<ssize_t>(code.size())) {
            throw DeviceError("the host has no memory for a kernel");
        }
        path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
        handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ == nullptr) {
            const std::string why = dlerror();
            close(file_);
            throw LaunchError("the kernel cannot be loaded: " + why);
        }
    }
    ~SharedObject() {
        dlclose(handle_);
        close(file_);
    }
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    template <class Function>
    void find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr) throw LaunchError(std::string("the kernel's code has no ") + name);
    }

    // "tiled.cu:31", from the debug information that checked kernels carry.
    [[nodiscard]] std::string locate(const void* address) const {
        Dl_info info{};
        if (dladdr(address, &info) == 0) return "unknown line";
        // The address is where a call returns to: step back into the call.
        const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase) - 1;
        std::ostringstream hexadecimal;
        hexadecimal << std::hex << offset;
        const auto found = run_process({"addr2line", "-s", "-e", path_, hexadecimal.str()}, std::chrono::seconds(10));
        return found.exit_code == 0 ? found.output.substr(0, found.output.find_first_of(" \n")) : "unknown line";
    }

private:
    int file_;
    std::string path_;
    void* handle_ = nullptr;
};

// One launch, as the threads that run its blocks see it.
struct Work {
    const HostEntry* entry;
    SmemtuneThread prototype;
    void* const* arguments;
    std::int64_t blocks;
    std::size_t dynamic_shared_bytes;
    bool checked;
    const std::vector<SmemtuneRange>* ranges;
    std::function<std::string(const void*)> locate;
};

// The threads that blocks are spread over. They wait between launches.
class Crew {
public:
    Crew(unsigned threads, unsigned seed) : start_(threads + 1), finish_(threads + 1), cpu_us_(threads) {
        for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i, seed] { serve(i, seed + i); });
    }
    ~Crew() {
        work_ = nullptr;
        start_.arrive_and_wait();
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Throws DeviceFault; DeviceError or std::bad_alloc when there is no memory for a block's stacks and shared memory.
    void run(const Work& work) {
        work_ = &work;
        next_block_ = 0;
        fault_.clear();
        start_.arrive_and_wait();
        finish_.arrive_and_wait();
        if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
        if (!fault_.empty()) throw DeviceFault(fault_);
        double total = 0;
        for (const auto each : cpu_us_) total += each;
        // CPU time, as if the blocks had been spread evenly: what else runs on the machine does not count.
        total_us_ += total / static_cast<double>(std::min<std::int64_t>(work.blocks, std::ssize(threads_)));
    }

    /// Of all launches so far.
    [[nodiscard]] double total_us() const { return total_us_; }

private:
    static double cpu_now_us() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
    }

    void serve(unsigned self, unsigned seed) {
        std::optional<BlockRunner> runner;
        std::unique_ptr<GuardedMemory> shared;
        while (true) {
            start_.arrive_and_wait();
            if (work_ == nullptr) return;
            const auto begin = cpu_now_us();
            try {
                if (!runner) runner.emplace(seed);
                run_blocks(*work_, *runner, shared);
            } catch (const std::exception&) {
                const std::scoped_lock lock(fault_mutex_);
                broken_ = std::current_exception();
            }
            cpu_us_[self] = cpu_now_us() - begin;
            finish_.arrive_and_wait();
        }
    }

    void run_blocks(const Work& work, BlockRunner& runner, std::unique_ptr<GuardedMemory>& shared) {
        if (!shared || shared->size() != work.dynamic_shared_bytes) {
            shared = std::make_unique<GuardedMemory>(work.dynamic_shared_bytes);
        }
        auto prototype = work.prototype;
        prototype.dynamic_shared = shared->data();
        std::vector<SmemtuneRange> ranges;
        if (work.checked) {
            ranges = *work.ranges;
            ranges.push_back(shared->range());
            prototype.ranges = ranges.data();
            prototype.range_count = std::ssize(ranges);
        }
        const auto& grid = prototype.grid_size;
        for (auto block = next_block_++; block < work.blocks; block = next_block_++) {
            prototype.block = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                               static_cast<unsigned>(block / grid.x / grid.y)};
            const auto fault = runner.run(*work.entry, prototype, work.arguments, work.locate);
            if (fault.empty()) continue;
            next_block_ = work.blocks;  // the others stop after the block they are at
            const std::scoped_lock lock(fault_mutex_);
            if (fault_.empty()) fault_ = fault;
        }
    }

    const Work* work_ = nullptr;
    std::atomic<std::int64_t> next_block_ = 0;
    std::barrier<> start_, finish_;
    std::vector<double> cpu_us_;
    std::atomic<double> total_us_ = 0;
    std::mutex fault_mutex_;
    std::string fault_;
    std::exception_ptr broken_;
    std::vector<std::jthread> threads_;
};

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
        return allocate(bytes);  // fresh from the system
    }
    void copy_to_device(Memory& to, std::span<const std::byte> from) override {
        std::memcpy(to.data(), from.data(), from.size());
    }
    void copy_to_host(std::span<std::byte> to, const Memory& from) override {
        std::memcpy(to.data(), from.data(), to.size());
    }
    [[nodiscard]] std::size_t free_bytes() override { return available_bytes(); }
    void synchronize() override {}

    [[nodiscard]] double time_us(std::span<const Call> calls) override {
        const auto before = shared_->crew.total_us();
        for (const auto& call : calls) call.kernel->launch(nullptr, call.launch, call.arguments.data());
        return shared_->crew.total_us() - before;
    }

private:
    // What kernels and memory need for as long as they live.
    struct Shared {
        explicit Shared(const BackendOptions& options)
            : crew(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency()),
                   options.seed) {}
        const Device device = host_device();
        std::mutex mutex;  // one launch at a time
        Crew crew;
        std::vector<const GuardedMemory*> memories;
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
            : object_(binary.code), checked_(binary.target.ends_with("-checked")), shared_(std::move(shared)) {
            object_.find("smemtune_call", entry_.call);
            object_.find("smemtune_current", entry_.current);
        }

        [[nodiscard]] Resources resources() const override { return {}; }

        void launch(StreamHandle, const Launch& launch, void* const* arguments) const override {
            const auto index = [](const std::array<std::int64_t, 3>& v) {
                return SmemtuneIndex{static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]),
                                     static_cast<unsigned>(v[2])};
            };
            if (const auto broken = broken_limit(launch, shared_->device)) throw LaunchError(*broken);
            const std::scoped_lock lock(shared_->mutex);
            std::vector<SmemtuneRange> ranges;
            for (const auto* memory : shared_->memories) ranges.push_back(memory->range());
            Work work{.entry = &entry_,
                      .prototype = {.block_size = index(launch.block), .grid_size = index(launch.grid)},
                      .arguments = arguments,
                      .blocks = launch.blocks(),
                      .dynamic_shared_bytes = static_cast<std::size_t>(launch.dynamic_shared_bytes),
                      .checked = checked_,
                      .ranges = &ranges,
                      .locate = [this](const void* address) { return object_.locate(address); }};
            shared_->crew.run(work);
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
        (sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)) >> 30 << 30;  // whole GiB: it names the device
    device.clock_khz = 0;
    return device;
}

std::unique_ptr<Backend> open_host(const BackendOptions& options) { return std::make_unique<HostBackend>(options); }

}  // namespace smemtune
