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

/// The time that all measurements of a Runtime may cost together. Any thread may use it.
class LostTime {
public:
    explicit LostTime(double most_ms) : left_ns_(static_cast<std::int64_t>(most_ms * 1e6)) {}
    [[nodiscard]] bool is_left() const { return left_ns_ > 0; }
    void spend(double us) { left_ns_ -= static_cast<std::int64_t>(us * 1e3); }

private:
    std::atomic<std::int64_t> left_ns_;
};

/// Each of the first launches runs a different kernel, timed on the launch's stream, and gives the caller's result.
/// When all times are known, the fastest kernel takes over. Until then, and while a stream is captured, further
/// launches run the first kernel. Any thread may launch.
class FirstCalls {
public:
    using Rival = std::shared_ptr<const Kernel::State>;

    /// `first` owns this object and outlives it. The rivals take the same arguments as `first`; the one that is
    /// expected to be the fastest comes first.
    FirstCalls(const Kernel::State& first, std::vector<Rival> rivals, std::shared_ptr<LostTime> lost);

    /// Throws as a launch of the first kernel does. If the device refuses a rival, the rival is dropped, and the first
    /// kernel runs instead.
    void launch(StreamHandle stream, std::span<void* const> arguments);

    /// The kernel that launches run now: the first one until the fastest is known.
    [[nodiscard]] const Kernel::State& current() const;

    /// A rival must be faster than the first kernel by more than this to take over: 2 %, and a microsecond, because
    /// the events that time a launch err by half of one.
    static constexpr double least_gain = 0.02;
    static constexpr double least_gain_us = 1;

private:
    void launch_timed(std::size_t turn, StreamHandle stream, std::span<void* const> arguments);
    void decide_if_known();
    static std::unique_ptr<const Kernel::State> with_measured_time(const Kernel::State& kernel, double us,
                                                                   std::size_t count);
    [[nodiscard]] const Kernel::State& kernel(std::size_t i) const { return i == 0 ? first_ : *rivals_[i - 1]; }

    struct Timed {
        std::unique_ptr<StreamTimer> timer;
        bool is_over = false;  // the launch was enqueued, or refused
        std::optional<double> us;
    };

    const Kernel::State& first_;
    const std::vector<Rival> rivals_;
    const std::size_t count_;  // of kernels
    const std::shared_ptr<LostTime> lost_;
    std::atomic<std::size_t> turn_ = 0;
    std::atomic<const Kernel::State*> fastest_ = nullptr;  // once it is known
    std::mutex mutex_;                                     // guards the members below
    std::vector<Timed> timed_;                             // by kernel
    std::unique_ptr<const Kernel::State> measured_;        // the fastest, with its time
};

}  // namespace smemtune
