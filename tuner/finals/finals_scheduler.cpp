#include "tuner/finals/finals_scheduler.h"

#include <algorithm>
#include <tuple>

#include "tuner/trial/sampling.h"

namespace smemtune {

namespace {

constexpr int comparing_rounds = 3;         // rounds in which the winner and the baseline are compared
constexpr double steady_us = 10'000;        // launches longer than this vary by about 0.1 %, so one round suffices
constexpr std::size_t least_per_share = 2;  // the least number of rounds per device; fewer are not worth its warm-up

}  // namespace

FinalsScheduler::FinalsScheduler(std::vector<Proposal> entrants, std::size_t finalists,
                                 std::optional<std::size_t> baseline, Settings settings)
    : entrants_(std::move(entrants)),
      finalists_(finalists),
      baseline_(baseline),
      settings_(std::move(settings)),
      elimination_(finalists, EliminationPolicy{}) {
    if (!elimination_.remaining().empty()) {
        start_round();
    } else if (finalists_ == 1 && !settings_.known.empty() && settings_.known.front().cut_short) {
        // The timing of the only finalist was cut short, so its time is not known yet.
        waiting_.push_back(task(FinalTask::Purpose::decide, {0}, EliminationPolicy{}.rounds));
    } else {
        choose_winner(elimination_.equals());
    }
}

std::optional<FinalTask> FinalsScheduler::next() {
    if (waiting_.empty()) return std::nullopt;
    auto task = std::move(waiting_.front());
    waiting_.pop_front();
    ++taken_;
    return task;
}

void FinalsScheduler::give_back(FinalTask task) {
    --taken_;
    waiting_.push_front(std::move(task));
}

void FinalsScheduler::finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes) {
    --taken_;
    if (over_) return;
    incomplete_ = incomplete_ || !outcomes;
    for (std::size_t i = 0; outcomes && i < outcomes->size(); ++i) {
        const auto entrant = task.entrants[i];
        const auto& outcome = (*outcomes)[i];
        if (task.purpose == FinalTask::Purpose::verify) {
            learn_verdict(entrant, outcome);
        } else if (const auto* measured = std::get_if<Measurement>(&outcome)) {
            learn(entrant, *measured);
        } else if (task.purpose == FinalTask::Purpose::decide) {
            // The candidate no longer compiles: the toolkit changed, or the compile exceeded its time limit.
            outcomes_[entrant] = outcome;
            elimination_.drop(entrant);
        }
    }
    if (task.purpose == FinalTask::Purpose::verify && !outcomes) {
        waiting_.clear();
        interrupted_ = true;  // a finalist that is not verified cannot win
        over_ = true;
        return;
    }
    if (!waiting_.empty() || taken_ > 0) return;
    if (winner_) {
        over_ = true;
    } else if (chosen_) {
        if (verified_.contains(*chosen_)) return end_with_winner();
        choose_winner();
    } else if (incomplete_) {
        choose_winner({});  // earlier measurements decide, because the new ones are incomplete
    } else {
        end_round();
    }
}

void FinalsScheduler::learn_verdict(std::size_t entrant, const Outcome& outcome) {
    if (const auto* measured = std::get_if<Measurement>(&outcome)) {
        verified_[entrant] = *measured;
        if (winner_) compare_with_baseline();
    } else {
        outcomes_[entrant] = outcome;
        std::erase(equals_, entrant);
    }
}

bool FinalsScheduler::is_valid(std::size_t entrant) const {
    const auto found = outcomes_.find(entrant);
    return found == outcomes_.end() || std::holds_alternative<Measurement>(found->second);
}

FinalTask FinalsScheduler::task(FinalTask::Purpose purpose, std::vector<std::size_t> entrants, int rounds) const {
    FinalTask task{.purpose = purpose, .rounds = rounds, .entrants = std::move(entrants)};
    for (const auto entrant : task.entrants) task.candidates.push_back(entrants_[entrant]);
    return task;
}

// Equal devices share the rounds. All samples of one round come from the same device.
void FinalsScheduler::start_round() {
    round_.clear();
    const bool by_time = settings_.objective == Objective::time;
    const auto rounds = static_cast<std::size_t>(EliminationPolicy{}.rounds);
    const auto shares = by_time ? std::min(settings_.workers, rounds / least_per_share) : 1;
    const auto each = by_time ? (rounds + shares - 1) / shares : 1;
    for (std::size_t i = 0; i < shares; ++i) {
        waiting_.push_back(task(FinalTask::Purpose::decide, elimination_.remaining(), static_cast<int>(each)));
    }
}

void FinalsScheduler::end_round() {
    if (!elimination_.remaining().empty()) {
        std::vector<std::vector<double>> samples;
        for (const auto entrant : elimination_.remaining()) samples.push_back(round_[entrant]);
        elimination_.add(samples);
    }
    if (elimination_.remaining().empty()) {
        choose_winner(elimination_.equals());
    } else {
        start_round();
    }
}

void FinalsScheduler::learn(std::size_t entrant, const Measurement& measured) {
    const bool by_time = settings_.objective == Objective::time;
    auto& times = times_us_[entrant];
    auto& round = round_[entrant];
    times.insert(times.end(), measured.samples_us.begin(), measured.samples_us.end());
    if (by_time) {
        round.insert(round.end(), measured.samples_us.begin(), measured.samples_us.end());
    } else {
        incomplete_ = incomplete_ || measured.energy_uj <= 0;  // an energy of 0 means that the device's counter failed
        round.push_back(measured.energy_uj);
    }
    auto all = measurement_of(times);
    all.clock_khz = measured.clock_khz;
    if (entrant < settings_.known.size()) {
        const auto& known = settings_.known[entrant];
        const auto enough = std::min(known.samples_us.size(), static_cast<std::size_t>(EliminationPolicy{}.rounds));
        if (!known.cut_short && times.size() < enough) all = known;
    }
    // If the new measurement lacks the energy, the energy of an earlier measurement is kept.
    const auto* before = std::get_if<Measurement>(&outcomes_[entrant]);
    all.energy_uj = measured.energy_uj;
    if (all.energy_uj <= 0 && before != nullptr) all.energy_uj = before->energy_uj;
    if (all.energy_uj <= 0 && entrant < settings_.known.size()) all.energy_uj = settings_.known[entrant].energy_uj;
    outcomes_[entrant] = std::move(all);
}

void FinalsScheduler::choose_winner(std::vector<std::size_t> equals) {
    equals_ = std::move(equals);
    choose_winner();
}

// Chooses a winner, which is then verified. If it turns out to be wrong, this function runs again.
void FinalsScheduler::choose_winner() {
    for (;;) {
        chosen_ = smallest_equal();
        if (!chosen_) chosen_ = next_best();
        if (!chosen_) break;
        if (entrants_[*chosen_].binary() != nullptr) {
            waiting_.push_back(task(FinalTask::Purpose::verify, {*chosen_}, 1));
            return;
        }
        learn_verdict(*chosen_, std::get<Rejection>(entrants_[*chosen_].compiled.get()));
    }
    over_ = true;
}

// Among the finalists that are equally fast, returns the one with the least shared memory. If several need equally
// little, returns the one of them with the fewest threads.
std::optional<std::size_t> FinalsScheduler::smallest_equal() const {
    const auto smallest = std::ranges::min_element(equals_, {}, [&](std::size_t entrant) {
        const auto& each = entrants_[entrant];
        const auto launch = each.binary() == nullptr ? Launch{} : settings_.launch(each);
        return std::tuple(launch.shared_bytes(), launch.threads(), each.search->kernel_template().name,
                          to_text(each.configuration));
    });
    return smallest == equals_.end() ? std::nullopt : std::optional(*smallest);
}

// Returns the best of the valid finalists. If the new measurements are incomplete, returns the first valid finalist. It
// has the least earlier cost, because the finalists are sorted by these costs.
std::optional<std::size_t> FinalsScheduler::next_best() const {
    std::optional<std::size_t> best;
    const auto cost = [&](std::size_t entrant) {
        const auto found = outcomes_.find(entrant);
        if (incomplete_ || found == outcomes_.end()) return 0.0;
        const auto& measured = std::get<Measurement>(found->second);
        return settings_.objective == Objective::time ? measured.median_us : measured.energy_uj;
    };
    for (std::size_t entrant = 0; entrant < finalists_; ++entrant) {
        if (is_valid(entrant) && (!best || cost(entrant) < cost(*best))) best = entrant;
    }
    return best;
}

// Begins the last tasks: measures the winner's energy, and compares the winner with the baseline.
void FinalsScheduler::end_with_winner() {
    winner_ = chosen_;
    if (settings_.energy) waiting_.push_back(task(FinalTask::Purpose::energy, {*winner_}, 1));
    if (baseline_ && *baseline_ != *winner_ && is_valid(*baseline_)) {
        if (settings_.verify_baseline) {
            waiting_.push_back(task(FinalTask::Purpose::verify, {*baseline_}, 1));
        } else {
            compare_with_baseline();
        }
    }
    over_ = waiting_.empty();
}

void FinalsScheduler::compare_with_baseline() {
    const auto rounds = settings_.launch_us > steady_us ? 1 : comparing_rounds;
    waiting_.push_back(task(FinalTask::Purpose::compare, {*winner_, *baseline_}, rounds));
}

}  // namespace smemtune
