// Lets threads wait for an event on another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace smemtune {

/// Usage: read count(), look for work, and wait(count) if there is none. An event between count() and wait() is not
/// lost. The counter has 32 bits, so that the wait is a futex. An event could be missed only if exactly 2^32 events
/// came between the two calls.
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
