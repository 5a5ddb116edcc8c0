// Lets threads wait for an event on another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace smemtune {

/// Usage: read count(), look for work, and call wait() with this count if there is no work. wait() returns at once if
/// an event came after count(). The counter has 32 bits, because waiting on 32 bits is a futex call. An event is missed
/// only if exactly 2^32 events come between the two calls.
class EventCount {
public:
    /// Wakes all waiting threads. Never blocks.
    void notify() {
        ++count_;
        count_.notify_all();
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    /// Returns once the count differs from `seen`.
    void wait(std::uint32_t seen) const { count_.wait(seen); }

private:
    std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace smemtune
