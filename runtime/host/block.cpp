#include "runtime/host/block.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <iterator>
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
        State state = State::ready;
        // Raw storage, so that the context of an abandoned fiber is not destroyed. Destroying it would unwind the
        // stack, and unwinding through a kernel that was compiled without exceptions would end the process. An
        // abandoned fiber owns nothing that needs unwinding.
        alignas(boost::context::fiber) std::byte storage[sizeof(boost::context::fiber)]{};

        boost::context::fiber& context() { return *std::launder(reinterpret_cast<boost::context::fiber*>(storage)); }
    };

    // Lets the fibers of `turn` run one after another, each until it waits or ends. Each one switches to the next,
    // which takes half as many switches as a return to the scheduler after each fiber. Ends early if there is a
    // violation.
    void run_turn() {
        next = 0;
        previous = nullptr;
        keep(std::move(next_context()).resume());
        *current = nullptr;
    }

    static void suspend(Fiber& fiber) {
        auto& all = *fiber.all;
        all.previous = &fiber;
        all.keep(std::move(all.next_context()).resume());
    }

    // Returns the context of the next fiber of the turn, or of the scheduler after the last fiber or a violation.
    boost::context::fiber& next_context() {
        if (next == turn.size() || violation.by != nullptr) return scheduler;
        auto& fiber = fibers[turn[next++]];
        *current = &fiber.self;
        fiber.state = Fiber::State::ready;
        return fiber.context();
    }

    // Stores the context that has just switched to the caller: that of the fiber `previous`, or the scheduler's if
    // `previous` is null. The context of a fiber that has ended is empty.
    void keep(boost::context::fiber&& context) {
        if (previous == nullptr) {
            scheduler = std::move(context);
        } else {
            new (previous->storage) boost::context::fiber(std::move(context));
        }
    }

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

    // Releases the lanes of a fiber's mask if all of them wait with the same mask. Ignores threads that have ended, and
    // lanes beyond the end of the block. Returns whether the lanes were released.
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

    [[nodiscard]] std::size_t number_in(Fiber::State state, std::size_t count) const {
        return static_cast<std::size_t>(std::count_if(fibers.begin(),
                                                      fibers.begin() + static_cast<std::ptrdiff_t>(count),
                                                      [&](const Fiber& fiber) { return fiber.state == state; }));
    }

    std::vector<Fiber> fibers = std::vector<Fiber>(most_threads);
    std::vector<std::size_t> order;
    std::vector<std::size_t> turn;       // the fibers that run_turn() runs
    std::size_t next = 0;                // index in `turn` of the next fiber to run
    Fiber* previous = nullptr;           // the fiber that switched last; null if the scheduler did
    boost::context::fiber scheduler;     // the context of run_turn()'s caller, while fibers run
    SmemtuneThread** current = nullptr;  // the kernel's pointer to its current thread
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
                                                  [&fiber, &all, &entry, arguments](boost::context::fiber&& before) {
                                                      all.keep(std::move(before));
                                                      entry.call(arguments);
                                                      fiber.state = Fiber::State::done;
                                                      all.previous = &fiber;
                                                      return std::move(all.next_context());
                                                  });
    }
    all.current = entry.current();
    std::size_t done = 0;
    while (done < count) {
        std::shuffle(all.order.begin(), all.order.end(), order_);
        all.turn = all.order;
        all.run_turn();
        // Some fibers may wait for other lanes of their warp.
        for (auto waiting = all.number_in(Fiber::State::at_warp, count); waiting > 0 && all.violation.by == nullptr;
             waiting = all.number_in(Fiber::State::at_warp, count)) {
            for (const auto i : all.order) {
                if (all.fibers[i].state == Fiber::State::at_warp) all.release_warp(i, count);
            }
            all.turn.clear();
            std::ranges::copy_if(all.order, std::back_inserter(all.turn),
                                 [&](std::size_t i) { return all.fibers[i].state == Fiber::State::ready; });
            if (all.turn.empty()) {
                stacks_->forget();
                return "a warp's __shfl_sync, __syncwarp or the like is not reached by all threads of its mask (" +
                       std::to_string(waiting) + " threads of the block wait)";
            }
            all.run_turn();
        }
        if (all.violation.by != nullptr) {
            stacks_->forget();
            return all.describe(locate);
        }
        done = all.number_in(Fiber::State::done, count);
        if (done > 0 && done < count) {
            stacks_->forget();
            return "__syncthreads is reached by " + std::to_string(count - done) + " of the " + std::to_string(count) +
                   " threads of a block";
        }
    }
    return {};
}

}  // namespace smemtune
