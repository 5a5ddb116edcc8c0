#include "tuner/worker/watchdog.h"

#include <fmt/format.h>

#include <utility>

namespace smemtune {

Watchdog::Watchdog(std::chrono::milliseconds limit, std::function<void(const std::string&)> on_timeout)
    : limit_(limit),
      on_timeout_(std::move(on_timeout)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Watchdog::begin(const std::string& step) {
    const std::scoped_lock lock(mutex_);
    step_ = step;
    end_ = step.empty() ? Clock::time_point::max() : Clock::now() + limit_;
    changed_.notify_all();
}

void Watchdog::watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (Clock::now() < end_) {
            const auto end = end_;
            const auto is_other = [&] { return end_ != end; };
            if (end == Clock::time_point::max()) {
                changed_.wait(lock, stop, is_other);
            } else {
                changed_.wait_until(lock, stop, end, is_other);
            }
            continue;
        }
        end_ = Clock::time_point::max();
        on_timeout_(
            fmt::format("{} took longer than {} s; make sure that this code ends, choose a smaller size, or give a "
                        "longer --deadline",
                        step_, std::chrono::duration_cast<std::chrono::seconds>(limit_).count()));
    }
}

}  // namespace smemtune
