// How threads wait for something that another thread does.
#pragma once

#include <atomic>
#include <cstdint>

namespace smemtune {

/// Read count(), look for work, and wait(count) when there is none: an event in between is not lost. The counter has
/// 32 bits, so that the wait is a futex; to miss an event, exactly 2^32 of them would have to come in between.
class EventCount {
public:
    /// Wakes every thread that waits. Never blocks.
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
