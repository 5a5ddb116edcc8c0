#include "runtime/host/block.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <new>
#include <numeric>

#include "runtime/host/layout.h"

namespace smemtune {

namespace {

constexpr std::size_t stack_bytes = std::size_t{128} * 1024;
constexpr std::size_t most_threads = 1024;
constexpr std::size_t warp_size = 32;
// Not a power of two, because a power of two would put the tops of all stacks into the same sets of the CPU's caches.
// Every switch between fibers would then miss the caches.
constexpr std::size_t stack_distance = stack_bytes + std::size_t{17} * 64;

// A stack allocator for fibers that frees nothing: the memory belongs to Stacks, which outlives every fiber.
struct Borrowed {
    void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

struct BlockRunner::Stacks {
    Stacks()
        : base(static_cast<char*>(mmap(nullptr, most_threads * stack_distance, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0))) {
        if (base == MAP_FAILED) throw std::bad_alloc();
    }
    ~Stacks() {
        forget();  // AddressSanitizer's marks must not remain for the next memory mapping at this address
        munmap(base, most_threads * stack_distance);
    }
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    [[nodiscard]] boost::context::preallocated stack(std::size_t index) const {
        boost::context::stack_context context;
        context.size = stack_bytes;
        context.sp = base + (index + 1) * stack_distance;
        return {context.sp, context.size, context};
    }

    // Clears the marks that AddressSanitizer left on the stacks of abandoned fibers. Otherwise, the marks would cause
    // false reports about the next fibers on these stacks. Does nothing in builds without AddressSanitizer.
    void forget() const { ASAN_UNPOISON_MEMORY_REGION(base, most_threads * stack_distance); }

    char* base;
};

struct BlockRunner::Fibers {
    struct Fiber {
        enum class State { ready, at_barrier, at_warp, done };
        SmemtuneThread self{};
        SmemtuneLane lane{};
        Fibers* all = nullptr;
        boost::context::fiber scheduler;  // the context that runs the fibers; suspend() returns to it
        State state = State::ready;
        // Raw storage, so that the context of an abandoned fiber is not destroyed. Destroying it would unwind the
        // stack, and unwinding through a kernel that was compiled without exceptions would end the process. An
        // abandoned fiber owns nothing that needs unwinding.
        alignas(boost::context::fiber) std::byte storage[sizeof(boost::context::fiber)]{};

        boost::context::fiber& context() { return *std::launder(reinterpret_cast<boost::context::fiber*>(storage)); }
    };

    static void suspend(Fiber& fiber) { fiber.scheduler = std::move(fiber.scheduler).resume(); }

    // A fiber's violation. It has only members without a destructor, because objects on the stack of an abandoned fiber
    // are never destroyed.
    struct Violation {
        const Fiber* by = nullptr;
        const void* address = nullptr;  // address of the access; null if an array index was out of bounds
        long long bytes = 0;
        bool write = false;
        const void* code = nullptr;
        const char* file = nullptr;
        unsigned line = 0;
        const char* array = nullptr;
        long long index = 0;
    };

    static void abandon(const Violation& what, Fiber& fiber) {
        fiber.all->violation = what;
        suspend(fiber);
        std::abort();  // never reached, because nobody resumes an abandoned fiber
    }

    static void barrier(void* scheduler) {
        auto& fiber = *static_cast<Fiber*>(scheduler);
        fiber.state = Fiber::State::at_barrier;
        suspend(fiber);
    }

    static void meet_warp(void* scheduler) {
        auto& fiber = *static_cast<Fiber*>(scheduler);
        fiber.state = Fiber::State::at_warp;
        suspend(fiber);
    }

    // Releases the lanes of a fiber's mask if all of them wait with the same mask. Does not wait for threads that have
    // ended, or for lanes beyond the end of the block. Returns whether the lanes were released.
    bool release_warp(std::size_t index, std::size_t count) {
        const auto first = index / warp_size * warp_size;
        const auto last = std::min(first + warp_size, count);
        const auto mask = fibers[index].lane.mask;
        unsigned present = 0;
        for (auto i = first; i < last; ++i) {
            if (((mask >> (i - first)) & 1U) == 0 || fibers[i].state == Fiber::State::done) continue;
            if (fibers[i].state != Fiber::State::at_warp || fibers[i].lane.mask != mask) return false;
            present |= 1U << (i - first);
        }
        for (auto i = first; i < last; ++i) {
            if (((present >> (i - first)) & 1U) == 0) continue;
            auto& lane = fibers[i].lane;
            lane.present = present;
            for (auto other = first; other < last; ++other) lane.values[other - first] = fibers[other].lane.given;
            fibers[i].state = Fiber::State::ready;
        }
        return true;
    }

    static void outside(void* scheduler, const void* address, long long bytes, bool write, const void* code) {
        auto& fiber = *static_cast<Fiber*>(scheduler);
        abandon({.by = &fiber, .address = address, .bytes = bytes, .write = write, .code = code}, fiber);
    }

    static void out_of_bounds(void* scheduler, const char* file, unsigned line, const char* array, long long index) {
        auto& fiber = *static_cast<Fiber*>(scheduler);
        abandon({.by = &fiber, .file = file, .line = line, .array = array, .index = index}, fiber);
    }

    [[nodiscard]] std::string describe(const std::function<std::string(const void*)>& locate) const {
        const auto& self = violation.by->self;
        const auto point = [](const SmemtuneIndex& p) {
            return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
        };
        const auto who = ", thread " + point(self.thread) + " of block " + point(self.block);
        if (violation.address == nullptr) {
            const std::string path(violation.file);
            return path.substr(path.rfind('/') + 1) + ":" + std::to_string(violation.line) + ": index " +
                   std::to_string(violation.index) + " is out of bounds of " + violation.array + who;
        }
        const auto* at = static_cast<const char*>(violation.address);
        const auto* range = std::find_if(self.ranges, self.ranges + self.range_count, [&](const SmemtuneRange& r) {
            return at >= r.around_begin && at < r.around_end;
        });
        const auto distance = at < range->begin ? std::to_string(range->begin - at) + " bytes before"
                                                : std::to_string(at - range->begin) + " bytes into";
        return locate(violation.code) + ": " + (violation.write ? "writes " : "reads ") +
               std::to_string(violation.bytes) + " bytes out of bounds, " + distance + " memory of " +
               std::to_string(range->end - range->begin) + " bytes" + who;
    }

    std::vector<Fiber> fibers = std::vector<Fiber>(most_threads);
    std::vector<std::size_t> order;
    Violation violation;
};

// Adds 1 to the seed, because the generator treats a seed of 0 like 1.
BlockRunner::BlockRunner(unsigned seed)
    : order_(seed + 1), stacks_(std::make_unique<Stacks>()), fibers_(std::make_unique<Fibers>()) {}
BlockRunner::~BlockRunner() = default;

SmemtuneRange BlockRunner::stacks() const {
    const char* begin = stacks_->base;
    const char* end = begin + most_threads * stack_distance;
    return {begin, begin, end, end};
}

std::string BlockRunner::run(const HostEntry& entry, const SmemtuneThread& prototype, void* const* arguments,
                             const std::function<std::string(const void*)>& locate) {
    using Fiber = Fibers::Fiber;
    auto& all = *fibers_;
    const auto& size = prototype.block_size;
    const std::size_t count = std::size_t{size.x} * size.y * size.z;
    all.violation = {};
    all.order.resize(count);
    std::iota(all.order.begin(), all.order.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
        auto& fiber = all.fibers[i];
        fiber.all = &all;
        fiber.state = Fiber::State::ready;
        fiber.self = prototype;
        fiber.self.thread = {static_cast<unsigned>(i) % size.x, static_cast<unsigned>(i) / size.x % size.y,
                             static_cast<unsigned>(i) / (size.x * size.y)};
        fiber.self.scheduler = &fiber;
        fiber.self.barrier = &Fibers::barrier;
        fiber.self.meet_warp = &Fibers::meet_warp;
        fiber.self.lane = &fiber.lane;
        fiber.self.lane_index = static_cast<unsigned>(i % warp_size);
        fiber.self.lanes = static_cast<unsigned>(std::min(warp_size, count - i / warp_size * warp_size));
        fiber.self.outside = &Fibers::outside;
        fiber.self.out_of_bounds = &Fibers::out_of_bounds;
        new (fiber.storage) boost::context::fiber(std::allocator_arg, stacks_->stack(i), Borrowed{},
                                                  [&fiber, &entry, arguments](boost::context::fiber&& scheduler) {
                                                      fiber.scheduler = std::move(scheduler);
                                                      entry.call(arguments);
                                                      fiber.state = Fiber::State::done;
                                                      return std::move(fiber.scheduler);
                                                  });
    }
    auto& current = *entry.current();
    std::size_t done = 0;
    std::size_t in_warps = 0;  // number of fibers that wait for other lanes of their warp
    // Runs a fiber until it waits or ends. Returns false if a violation ended the launch.
    const auto resume = [&](Fiber& fiber) {
        current = &fiber.self;
        fiber.state = Fiber::State::ready;
        auto context = std::move(fiber.context()).resume();
        new (fiber.storage) boost::context::fiber(std::move(context));
        if (all.violation.by != nullptr) {
            current = nullptr;
            stacks_->forget();
            return false;
        }
        if (fiber.state == Fiber::State::done) ++done;
        if (fiber.state == Fiber::State::at_warp) ++in_warps;
        return true;
    };
    while (done < count) {
        std::shuffle(all.order.begin(), all.order.end(), order_);
        for (const auto i : all.order) {
            if (!resume(all.fibers[i])) return all.describe(locate);
        }
        while (in_warps > 0) {
            const auto before = in_warps;
            for (const auto i : all.order) {
                if (all.fibers[i].state == Fiber::State::at_warp) all.release_warp(i, count);
            }
            in_warps = 0;
            std::size_t released = 0;
            for (const auto i : all.order) {
                auto& fiber = all.fibers[i];
                if (fiber.state == Fiber::State::at_warp) ++in_warps;
                if (fiber.state != Fiber::State::ready) continue;
                ++released;
                if (!resume(fiber)) return all.describe(locate);
            }
            if (released > 0) continue;
            current = nullptr;
            stacks_->forget();
            return "a warp's __shfl_sync, __syncwarp or the like is not reached by all threads of its mask (" +
                   std::to_string(before) + " threads of the block wait)";
        }
        if (done > 0 && done < count) {
            current = nullptr;
            stacks_->forget();
            return "__syncthreads is reached by " + std::to_string(count - done) + " of the " + std::to_string(count) +
                   " threads of a block";
        }
    }
    current = nullptr;
    return {};
}

}  // namespace smemtune
