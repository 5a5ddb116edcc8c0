// Times a few kernels of a problem in the application's first launches, and chooses the one that is probably the
// fastest (Options::measure_first_calls).
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

/// A kernel and the measured time of one of its launches; nullopt if the launch was refused or not timed.
struct TimedChoice {
    const Choice* choice = nullptr;
    std::optional<double> us;
};

/// Returns how much longer `rival` probably takes than `first`, in microseconds of device time; negative if `rival` is
/// probably faster. Precondition: both have measured times. If both choices were predicted for this device, the result
/// is the mean of the predicted and the measured difference, weighted by the inverses of their variances. If the
/// choices were not both predicted, or the two differences contradict each other, the result is the measured difference
/// alone. It is then 0 if measurement error could explain the difference.
double probable_difference_us(const TimedChoice& first, const TimedChoice& rival);

/// Returns the index of the kernel that is probably the fastest: the first one with a measured time, unless another one
/// is probably faster. Returns nullopt if no kernel has a measured time.
std::optional<std::size_t> probably_fastest(std::span<const TimedChoice> kernels);

/// Times each kernel in one of the first launches, on the caller's stream and operands. When all times are known, later
/// launches run the kernel that is probably the fastest (probably_fastest()). Until all times are known, launches
/// that are captured or not timed run the first kernel. Any thread may launch.
class FirstCalls {
public:
    using Rival = std::shared_ptr<const Kernel::State>;

    /// `first` owns this object and outlives it. The rivals take the same arguments as `first` and are sorted: the
    /// rival that is expected to be the fastest comes first.
    FirstCalls(const Kernel::State& first, std::vector<Rival> rivals, std::shared_ptr<LostTime> lost);

    /// Throws what a launch of the first kernel throws. If the device refuses a rival, the first kernel runs instead,
    /// and the rival is not used again.
    void launch(StreamHandle stream, std::span<void* const> arguments);

    /// Returns the kernel that is probably the fastest, once all times are known; before, the first kernel.
    [[nodiscard]] const Kernel::State& current() const;

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
    std::atomic<const Kernel::State*> chosen_ = nullptr;  // for later launches; null until all times are known
    std::mutex mutex_;                                    // guards the members below
    std::vector<Timed> timed_;                            // one for each kernel; index 0 is the first kernel
    std::unique_ptr<const Kernel::State> measured_;       // the chosen kernel, with its measured time
};

}  // namespace smemtune
