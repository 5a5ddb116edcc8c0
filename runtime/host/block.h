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
    SmemtuneThread** (*current)() = nullptr;         ///< the kernel's pointer to its running thread, per OS thread
};

/// Runs the threads as fibers that meet at __syncthreads. Between two barriers they run one after another, in an order
/// that the seed decides and that changes at each barrier. So a kernel that lacks a barrier reads stale values and
/// gives wrong results.
class BlockRunner {
public:
    explicit BlockRunner(unsigned seed);
    ~BlockRunner();
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    /// `prototype` holds block, block size, grid size and ranges. Returns the kernel's violation (an access out of
    /// bounds, or a barrier that not all threads reach) with thread and block; empty if there is none. `locate` turns a
    /// code address into "file:line".
    std::string run(const HostEntry& entry, const SmemtuneThread& prototype, void* const* arguments,
                    const std::function<std::string(const void*)>& locate);

    /// The memory that holds the stacks of all fibers: a kernel's local arrays.
    [[nodiscard]] SmemtuneRange stacks() const;

private:
    struct Fibers;
    struct Stacks;

    std::minstd_rand order_;
    std::unique_ptr<Stacks> stacks_;
    std::unique_ptr<Fibers> fibers_;
};

}  // namespace smemtune
