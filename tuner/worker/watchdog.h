// Notices that a kernel or a reference hangs. For commands that run them in their own process; tuning runs them in
// worker processes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace smemtune {

/// Limits the time of each step of a command.
class Watchdog {
public:
    /// `on_timeout` gets the message about a step that ran longer than `limit`. It is called on a thread of the
    /// watchdog, because the step cannot be stopped: it may be a kernel that never ends.
    Watchdog(std::chrono::milliseconds limit, std::function<void(const std::string& message)> on_timeout);

    /// Ends the present step, and begins the next one. `step` completes "STEP took longer than 5 s". If it is empty,
    /// what follows may take any time.
    void begin(const std::string& step);

private:
    using Clock = std::chrono::steady_clock;

    void watch(const std::stop_token& stop);

    std::chrono::milliseconds limit_;
    std::function<void(const std::string&)> on_timeout_;
    std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::string step_;
    Clock::time_point end_ = Clock::time_point::max();
    std::jthread thread_;  // the last member, because its thread uses the other members
};

}  // namespace smemtune
