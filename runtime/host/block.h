// Runs the threads of a block as fibers on one operating system thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

struct SmemtuneRange;
struct SmemtuneThread;

namespace smemtune {

/// The entry points of a compiled kernel.
struct HostEntry {
    void (*call)(void* const* arguments) = nullptr;  ///< the kernel, for one thread
    SmemtuneThread** (*current)() = nullptr;         ///< where the kernel looks for the running thread, per OS thread
};

/// Fibers meet at __syncthreads; between two barriers they run one after another, in an order drawn anew from the seed
/// for each stretch. So a kernel that lacks a barrier sees values that are not there yet, and gives wrong results.
class BlockRunner {
public:
    explicit BlockRunner(unsigned seed);
    ~BlockRunner();
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    /// `prototype` holds block, block size, grid size, ranges. Returns what the kernel did wrong (an access out of
    /// bounds, a barrier that not all threads reach), with thread and block; empty when nothing.
    /// `locate` turns a code address into "file:line".
    std::string run(const HostEntry& entry, const SmemtuneThread& prototype, void* const* arguments,
                    const std::function<std::string(const void*)>& locate);

private:
    struct Fibers;
    struct Stacks;

    std::minstd_rand order_;
    std::unique_ptr<Stacks> stacks_;
    std::unique_ptr<Fibers> fibers_;
};

}  // namespace smemtune
