// A memory fence between a frequent and a rare operation. It costs nothing at the frequent operation and a system call
// at the rare operation.
#pragma once

#include <atomic>

namespace smemtune {

/// Problem: one thread stores A and then loads B; another thread stores B and then loads A. At least one of the two
/// must see the other's store. Usually each of the two needs a fence between its store and its load. Such a fence takes
/// as long as the rest of a fetch of a known problem. Solution: the rare (heavy) side calls heavy(), which makes every
/// running thread of the process execute a fence (membarrier, some microseconds). If is_available(), the frequent
/// (light) side then needs no fence. If not, it must use a sequentially consistent store.
class AsymmetricFence {
public:
    /// Registers the process with the operating system. Until the first call, is_available() is false. Repeated calls
    /// do nothing.
    static void prepare();
    /// If true, the light side needs no fence. Becomes false again only if heavy() finds that the operating system now
    /// refuses membarrier.
    static bool is_available() { return available_.load(std::memory_order_relaxed); }
    static void heavy();

private:
    static inline constinit std::atomic<bool> available_ = false;  // NOLINT(*-global-variables): one for the process
};

}  // namespace smemtune
