#include "runtime/host/block_threads.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

namespace smemtune {

namespace {

double cpu_now_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace

BlockThreads::BlockThreads(unsigned threads, unsigned seed)
    : start_(threads + 1), finish_(threads + 1), cpu_us_(threads) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i, seed] { serve(i, seed + i); });
}

BlockThreads::~BlockThreads() {
    work_ = nullptr;
    start_.arrive_and_wait();
}

void BlockThreads::run(const Work& work) {
    work_ = &work;
    next_block_ = 0;
    fault_.clear();
    start_.arrive_and_wait();
    finish_.arrive_and_wait();
    if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
    if (!fault_.empty()) throw DeviceFault(fault_);
    double total = 0;
    for (const auto each : cpu_us_) total += each;
    // The time of a launch is its CPU time divided by the number of threads, as if the blocks were spread evenly. CPU
    // time is used because, unlike elapsed time, it does not grow with other load on the machine.
    total_us_ += total / static_cast<double>(std::min<std::int64_t>(work.blocks, std::ssize(threads_)));
}

void BlockThreads::serve(unsigned self, unsigned seed) {
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

void BlockThreads::run_blocks(const Work& work, BlockRunner& runner, std::unique_ptr<GuardedMemory>& shared) {
    if (!shared || shared->size() != work.dynamic_shared_bytes) {
        shared = std::make_unique<GuardedMemory>(work.dynamic_shared_bytes);
    }
    auto prototype = work.prototype;
    prototype.dynamic_shared = shared->data();
    std::vector<SmemtuneRange> ranges;
    if (work.checked) {
        // The most frequently accessed ranges come first, because every access searches the ranges in order.
        ranges = {runner.stacks(), shared->range()};
        ranges.insert(ranges.end(), work.ranges->begin(), work.ranges->end());
        prototype.ranges = ranges.data();
        prototype.range_count = std::ssize(ranges);
    }
    const auto& grid = prototype.grid_size;
    for (auto block = next_block_++; block < work.blocks; block = next_block_++) {
        prototype.block = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                           static_cast<unsigned>(block / grid.x / grid.y)};
        const auto fault = runner.run(*work.entry, prototype, work.arguments, work.locate);
        if (fault.empty()) continue;
        next_block_ = work.blocks;  // the other threads stop after their current block
        const std::scoped_lock lock(fault_mutex_);
        if (fault_.empty()) fault_ = fault;
    }
}

}  // namespace smemtune
