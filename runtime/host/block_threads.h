// The operating system threads that run the blocks of launches. Between launches they wait.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/host/block.h"
#include "runtime/host/guarded_memory.h"
#include "runtime/host/layout.h"

namespace smemtune {

class BlockThreads {
public:
    /// What the threads need to run the blocks of one launch.
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

    BlockThreads(unsigned threads, unsigned seed);
    ~BlockThreads();
    BlockThreads(const BlockThreads&) = delete;
    BlockThreads& operator=(const BlockThreads&) = delete;

    /// Runs a launch and returns when all blocks are done. Throws DeviceFault if the kernel did something illegal.
    /// Throws DeviceError or std::bad_alloc if there is no memory for a block's stacks and shared memory.
    void run(const Work& work);

    /// The time of all launches so far, in microseconds: their CPU time divided by the number of threads that ran
    /// blocks.
    [[nodiscard]] double total_us() const { return total_us_; }

private:
    void serve(unsigned self, unsigned seed);
    void run_blocks(const Work& work, BlockRunner& runner, std::unique_ptr<GuardedMemory>& shared);

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

}  // namespace smemtune
