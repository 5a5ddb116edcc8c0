// Runs the CUDA threads of a block as fibers on one operating system thread.
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
    void (*call)(void* const* arguments) = nullptr;  ///< runs one CUDA thread of the kernel
    SmemtuneThread** (*current)() = nullptr;         ///< address of the OS thread's pointer to its current CUDA thread
};

/// Runs the threads of a block as fibers. Between two barriers the fibers run one after another, in a random order that
/// depends on the seed and changes at each barrier. A kernel that lacks a necessary barrier therefore reads stale
/// values and gives wrong results.
class BlockRunner {
public:
    explicit BlockRunner(unsigned seed);
    ~BlockRunner();
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    /// Runs one block. `prototype` gives block index, block size, grid size, dynamic shared memory and ranges. `locate`
    /// turns a code address into "file:line". Returns an empty text, or a text about the violation that ended the
    /// block. A violation is an access out of bounds (the text names thread and block), or a barrier that not all
    /// threads reach.
    std::string run(const HostEntry& entry, const SmemtuneThread& prototype, void* const* arguments,
                    const std::function<std::string(const void*)>& locate);

    /// The memory of all fibers' stacks, where a kernel's local arrays are.
    [[nodiscard]] SmemtuneRange stacks() const;

private:
    struct Fibers;
    struct Stacks;

    std::minstd_rand order_;
    std::unique_ptr<Stacks> stacks_;
    std::unique_ptr<Fibers> fibers_;
};

}  // namespace smemtune
