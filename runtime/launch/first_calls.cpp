#include "runtime/launch/first_calls.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace smemtune {

namespace {

// The standard error of a measured time: this many microseconds, plus this share of the time. The time that CUDA events
// measure for a single launch includes 5 to 8 us of starting, which differ from launch to launch.
constexpr double timer_error_us = 3;
constexpr double timer_error = 0.01;

double square(double x) { return x * x; }

double measuring_error_us(double us) { return timer_error_us + timer_error * us; }

}  // namespace

double probable_difference_us(const Choice& first, double first_us, const Choice& rival, double rival_us) {
    const auto measured = rival_us - first_us;
    const auto measured_variance = square(measuring_error_us(first_us)) + square(measuring_error_us(rival_us));
    const auto predicted = rival.expected_us - first.expected_us;
    const auto predicted_variance =
        square(first.uncertainty * first.expected_us) + square(rival.uncertainty * rival.expected_us);
    if (first.uncertainty <= 0 || rival.uncertainty <= 0) {
        return square(measured) > measured_variance ? measured : 0;
    }
    return (predicted * measured_variance + measured * predicted_variance) / (measured_variance + predicted_variance);
}

FirstCalls::FirstCalls(const Kernel::State& first, std::vector<Rival> rivals, std::shared_ptr<LostTime> lost)
    : first_(first), rivals_(std::move(rivals)), count_(rivals_.size() + 1), lost_(std::move(lost)), timed_(count_) {}

const Kernel::State& FirstCalls::current() const {
    const auto* const fastest = fastest_.load(std::memory_order_acquire);
    return fastest == nullptr ? first_ : *fastest;
}

void FirstCalls::launch(StreamHandle stream, std::span<void* const> arguments) {
    if (const auto* const fastest = fastest_.load(std::memory_order_acquire)) {
        return fastest->kernel.launch(stream, arguments);
    }
    if (first_.backend->is_capturing(stream)) return first_.kernel.launch(stream, arguments);
    if (turn_.load(std::memory_order_relaxed) < count_) {
        const auto turn = turn_++;
        if (turn < count_) return launch_timed(turn, stream, arguments);
    }
    decide_if_known();
    current().kernel.launch(stream, arguments);
}

// The very first launch finds a cold cache and a low clock, so its measured time is too long. This does the least harm
// if that launch runs the kernel that is the least likely to be the fastest: the last rival.
void FirstCalls::launch_timed(std::size_t turn, StreamHandle stream, std::span<void* const> arguments) {
    const auto which = (turn + count_ - 1) % count_;
    std::unique_ptr<StreamTimer> timer;
    const auto end_turn = [&] {
        const std::scoped_lock lock(mutex_);
        timed_[which].timer = std::move(timer);
        timed_[which].is_over = true;
    };
    try {
        const auto& timed = kernel(which).kernel;
        timed.prepare(stream);  // allocates now; otherwise the measured time would include the allocation
        timer = first_.backend->start_timer(stream);
        timed.launch(stream, arguments);
    } catch (const std::runtime_error&) {  // LaunchError, or OutOfMemory of the workspace: nothing was enqueued
        timer.reset();
        end_turn();
        if (which == 0) throw;
        return first_.kernel.launch(stream, arguments);
    }
    if (timer) timer->end();
    end_turn();
}

void FirstCalls::decide_if_known() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || fastest_ != nullptr) return;
    for (auto& each : timed_) {
        if (!each.is_over) return;
        if (each.timer && !each.us) each.us = each.timer->us();
        if (each.timer && !each.us) return;  // this kernel's launch still runs
    }
    double sum = 0;
    std::size_t known = 0;
    std::size_t best = 0;
    // If the device refused the first kernel, the fastest rival is the best.
    auto least = timed_[0].us ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count_; ++i) {
        if (!timed_[i].us) continue;
        sum += *timed_[i].us;
        ++known;
        if (i == 0) continue;
        const auto later = timed_[0].us
                               ? probable_difference_us(first_.choice, *timed_[0].us, kernel(i).choice, *timed_[i].us)
                               : *timed_[i].us;
        if (later >= least) continue;
        least = later;
        best = i;
    }
    if (timed_[best].us) {
        lost_->spend(sum - static_cast<double>(known) * *timed_[best].us);
        measured_ = with_measured_time(kernel(best), *timed_[best].us, known);
    }
    fastest_.store(measured_ ? measured_.get() : &first_, std::memory_order_release);
    for (auto& each : timed_) each.timer.reset();
}

// A copy of the fastest kernel's state, in which the measured time replaces the expected time. `count` kernels were
// timed.
std::unique_ptr<const Kernel::State> FirstCalls::with_measured_time(const Kernel::State& kernel, double us,
                                                                    std::size_t count) {
    auto state = std::make_unique<Kernel::State>(kernel);
    std::array<char, 100> text{};
    (void)std::snprintf(text.data(), text.size(), "measured %.4g us, the fastest of %zu at the first calls", us, count);
    state->choice.why = text.data();
    state->choice.expected_us = us;
    state->choice.uncertainty = 0;
    state->first_calls = nullptr;
    return state;
}

}  // namespace smemtune
