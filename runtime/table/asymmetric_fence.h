// A memory fence that costs nothing where threads pass often. The thread that passes seldom pays for both sides.
#pragma once

#include <atomic>

namespace smemtune {

/// A thread stores A and then loads B; another one stores B and then loads A. At least one of them must see the other's
/// store. Usually both need a fence between store and load, which takes as long as all the rest of a warm fetch. Here
/// one side calls heavy(), some microseconds, which makes every running thread of the process pass a fence
/// (membarrier). Then the other side needs none if is_available(), and else a sequentially consistent store.
class AsymmetricFence {
public:
    /// Registers the process with the kernel. To be called before is_available() matters; repeated calls cost nothing.
    static void prepare();
    /// Once true, the light side needs no fence. It stays true, except where the kernel takes back what it granted.
    static bool is_available() { return available_.load(std::memory_order_relaxed); }
    static void heavy();

private:
    static inline constinit std::atomic<bool> available_ = false;  // NOLINT(*-global-variables): of the process
};

}  // namespace smemtune
