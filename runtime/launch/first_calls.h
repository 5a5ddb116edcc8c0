// Finds the fastest of a few kernels of one problem by timing the application's own launches
// (Options::measure_first_calls).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/launch/kernel_state.h"

namespace smemtune {

/// The device time that a Runtime may still lose by timing kernels other than the fastest
/// (FirstCallsOptions::most_lost_ms). Any thread may use the object.
class LostTime {
public:
    explicit LostTime(double most_ms) : left_ns_(static_cast<std::int64_t>(most_ms * 1e6)) {}
    [[nodiscard]] bool is_left() const { return left_ns_ > 0; }
    void spend(double us) { left_ns_ -= static_cast<std::int64_t>(us * 1e3); }

private:
    std::atomic<std::int64_t> left_ns_;
};

/// Times each kernel in one of the first launches, on the caller's stream and operands. When all times are known, later
/// launches run the fastest rival, or the first kernel if no rival is clearly faster than the first kernel. Until all
/// times are known, launches that are captured or not timed run the first kernel. Any thread may launch.
class FirstCalls {
public:
    using Rival = std::shared_ptr<const Kernel::State>;

    /// `first` owns this object and outlives it. The rivals take the same arguments as `first` and are sorted: the
    /// rival that is expected to be the fastest comes first.
    FirstCalls(const Kernel::State& first, std::vector<Rival> rivals, std::shared_ptr<LostTime> lost);

    /// Throws what a launch of the first kernel throws. If the device refuses a rival, the first kernel runs instead,
    /// and the rival is not used again.
    void launch(StreamHandle stream, std::span<void* const> arguments);

    /// Returns the fastest kernel if it is known; else the first kernel.
    [[nodiscard]] const Kernel::State& current() const;

    /// A rival replaces the first kernel only if it is faster by more than 2 % plus 3 us. The time that CUDA events
    /// measure for a single launch includes 5 to 8 us of starting, which differ from launch to launch. With 1 us
    /// instead of 3, 62 of 400 choices at random sizes on an H100 became more than 2 % slower, and all of these took
    /// less than 21 us.
    static constexpr double least_gain = 0.02;
    static constexpr double least_gain_us = 3;

private:
    void launch_timed(std::size_t turn, StreamHandle stream, std::span<void* const> arguments);
    void decide_if_known();
    static std::unique_ptr<const Kernel::State> with_measured_time(const Kernel::State& kernel, double us,
                                                                   std::size_t count);
    [[nodiscard]] const Kernel::State& kernel(std::size_t i) const { return i == 0 ? first_ : *rivals_[i - 1]; }

    struct Timed {
        std::unique_ptr<StreamTimer> timer;
        bool is_over = false;  // true once the launch was enqueued or refused
        std::optional<double> us;
    };

    const Kernel::State& first_;
    const std::vector<Rival> rivals_;
    const std::size_t count_;  // number of kernels: the first one and its rivals
    const std::shared_ptr<LostTime> lost_;
    std::atomic<std::size_t> turn_ = 0;
    std::atomic<const Kernel::State*> fastest_ = nullptr;  // null until the fastest kernel is known
    std::mutex mutex_;                                     // guards the members below
    std::vector<Timed> timed_;                             // one for each kernel; index 0 is the first kernel
    std::unique_ptr<const Kernel::State> measured_;        // the fastest kernel, with its measured time
};

}  // namespace smemtune
