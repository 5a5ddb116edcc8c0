#include "runtime/launch/first_calls.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <limits>
#include <utility>

namespace smemtune {

namespace {

// The standard error of a measured time is the sum of two parts: `timer_error_us` microseconds, and the share
// `timer_error` of the time. The time that CUDA events measure for a single launch includes 5 to 8 us of launch
// overhead, which varies.
constexpr double timer_error_us = 3;
constexpr double timer_error = 0.01;
// The difference of two kernels' times is both predicted and measured. The two differences contradict each other if
// they are more than this many standard errors apart.
constexpr double contradiction = 3;

double square(double x) { return x * x; }

double measuring_error_us(double us) { return timer_error_us + timer_error * us; }

}  // namespace

double probable_difference_us(const TimedChoice& first, const TimedChoice& rival) {
    const auto measured = *rival.us - *first.us;
    const auto measured_variance = square(measuring_error_us(*first.us)) + square(measuring_error_us(*rival.us));
    const auto measured_alone = square(measured) > measured_variance ? measured : 0;
    // Only the measured times count unless both kernels have predictions for this device. Predictions for another
    // device may all be wrong in the same way.
    for (const auto* each : {first.choice, rival.choice}) {
        if (each->match != Match::predicted || each->uncertainty <= 0) return measured_alone;
    }
    const auto predicted_us = [](const TimedChoice& each) { return each.choice->expected_us; };
    const auto predicted = predicted_us(rival) - predicted_us(first);
    const auto predicted_variance = square(first.choice->uncertainty * predicted_us(first)) +
                                    square(rival.choice->uncertainty * predicted_us(rival));
    const auto variance = measured_variance + predicted_variance;
    // A prediction's assumed error is proportional to the predicted time, so a prediction that is far too short would
    // count as nearly certain. Therefore a prediction that contradicts the measurement is ignored.
    const bool contradict = square(measured - predicted) > square(contradiction) * variance;
    if (contradict) return measured_alone;
    return (predicted * measured_variance + measured * predicted_variance) / variance;
}

std::optional<std::size_t> probably_fastest(std::span<const TimedChoice> kernels) {
    const auto first = std::ranges::find_if(kernels, [](const auto& each) { return each.us.has_value(); });
    if (first == kernels.end()) return std::nullopt;
    auto fastest = first;
    double least = 0;
    for (auto rival = std::next(first); rival != kernels.end(); ++rival) {
        const auto later = rival->us ? probable_difference_us(*first, *rival) : 0;
        if (!(later < least)) continue;  // also skips a NaN, which a damaged prediction can cause
        least = later;
        fastest = rival;
    }
    return static_cast<std::size_t>(fastest - kernels.begin());
}

FirstCalls::FirstCalls(const Kernel::State& first, std::vector<Rival> rivals, std::shared_ptr<LostTime> lost)
    : first_(first), rivals_(std::move(rivals)), count_(rivals_.size() + 1), lost_(std::move(lost)), timed_(count_) {}

const Kernel::State& FirstCalls::current() const {
    const auto* const chosen = chosen_.load(std::memory_order_acquire);
    return chosen == nullptr ? first_ : *chosen;
}

void FirstCalls::launch(StreamHandle stream, std::span<void* const> arguments) {
    if (const auto* const chosen = chosen_.load(std::memory_order_acquire)) {
        return chosen->kernel.launch(stream, arguments);
    }
    if (first_.backend->is_capturing(stream)) return first_.kernel.launch(stream, arguments);
    if (turn_.load(std::memory_order_relaxed) < count_) {
        const auto turn = turn_++;
        if (turn < count_) return launch_timed(turn, stream, arguments);
    }
    decide_if_known();
    current().kernel.launch(stream, arguments);
}

// The very first launch finds a cold cache and a low clock, so its measured time is too long. The error does the least
// harm if that launch runs the kernel that is the least likely to be the fastest: the last rival.
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
    try {
        if (timer) timer->end();
    } catch (const std::runtime_error&) {  // the launch is enqueued, but has no time
        timer.reset();
    }
    end_turn();
}

void FirstCalls::decide_if_known() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || chosen_ != nullptr) return;
    for (auto& each : timed_) {
        if (!each.is_over) return;
        if (each.timer && !each.us) each.us = each.timer->us();
        if (each.timer && !each.us) return;  // this kernel's launch still runs
    }
    std::vector<TimedChoice> kernels;
    double sum = 0;
    double shortest = std::numeric_limits<double>::infinity();
    std::size_t known = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const auto& us = timed_[i].us;
        kernels.push_back({&kernel(i).choice, us});
        if (!us) continue;
        sum += *us;
        shortest = std::min(shortest, *us);
        ++known;
    }
    if (const auto fastest = probably_fastest(kernels)) {
        lost_->spend(sum - static_cast<double>(known) * shortest);
        measured_ = with_measured_time(kernel(*fastest), *kernels[*fastest].us, known);
    }
    chosen_.store(measured_ ? measured_.get() : &first_, std::memory_order_release);
    for (auto& each : timed_) each.timer.reset();
}

// A copy of the chosen kernel's state, in which the measured time replaces the expected time. `count` kernels were
// timed.
std::unique_ptr<const Kernel::State> FirstCalls::with_measured_time(const Kernel::State& kernel, double us,
                                                                    std::size_t count) {
    auto state = std::make_unique<Kernel::State>(kernel);
    std::array<char, 100> text{};
    (void)std::snprintf(text.data(), text.size(), "probably the fastest of %zu at the first calls, measured %.4g us",
                        count, us);
    state->choice.why = text.data();
    state->choice.expected_us = us;
    state->choice.uncertainty = 0;
    state->first_calls = nullptr;
    return state;
}

}  // namespace smemtune
