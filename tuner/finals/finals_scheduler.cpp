#include "tuner/finals/finals_scheduler.h"

#include <algorithm>
#include <tuple>

#include "tuner/trial/sampling.h"

namespace smemtune {

namespace {

constexpr int comparing_rounds = 3;         // of the winner and the baseline,
constexpr double steady_us = 10'000;        // and one where launches last that long: they differ by a per mille
constexpr std::size_t least_per_share = 2;  // rounds for a device, so that it is worth its warm-up

}  // namespace

FinalsScheduler::FinalsScheduler(std::vector<Proposal> players, std::size_t finalists,
                                 std::optional<std::size_t> baseline, Settings settings)
    : players_(std::move(players)),
      baseline_(baseline),
      settings_(std::move(settings)),
      finals_(finalists, EliminationPolicy{}) {
    if (finals_.playing().empty()) {
        choose(finals_.equals());
    } else {
        start_round();
    }
}

std::optional<FinalTask> FinalsScheduler::next() {
    if (waiting_.empty()) return std::nullopt;
    auto task = std::move(waiting_.front());
    waiting_.pop_front();
    ++in_hand_;
    return task;
}

void FinalsScheduler::give_back(FinalTask task) {
    --in_hand_;
    waiting_.push_front(std::move(task));
}

void FinalsScheduler::finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes) {
    --in_hand_;
    lost_ = lost_ || !outcomes;
    for (std::size_t i = 0; outcomes && i < outcomes->size(); ++i) {
        const auto player = task.players[i];
        if (const auto* measured = std::get_if<Measurement>(&(*outcomes)[i])) {
            learn(player, *measured);
        } else if (task.purpose == FinalTask::Purpose::decide) {
            // One that compiled before and no longer does (another toolkit, a time limit) is rejected, and out.
            outcomes_[player] = (*outcomes)[i];
            finals_.drop(player);
        }
    }
    if (!waiting_.empty() || in_hand_ > 0) return;
    if (chosen_) {
        over_ = true;
    } else if (lost_) {
        choose(first_left());  // what was measured before decides
    } else {
        end_round();
    }
}

std::vector<std::size_t> FinalsScheduler::first_left() const {
    for (std::size_t player = 0; player < players_.size(); ++player) {
        const auto found = outcomes_.find(player);
        if (found == outcomes_.end() || std::holds_alternative<Measurement>(found->second)) return {player};
    }
    return {};
}

FinalTask FinalsScheduler::task(FinalTask::Purpose purpose, std::vector<std::size_t> players, int rounds) const {
    FinalTask task{.purpose = purpose, .rounds = rounds, .players = std::move(players)};
    for (const auto player : task.players) task.candidates.push_back(players_[player]);
    return task;
}

// Equal devices share the rounds: a ratio is always one of samples from the same device.
void FinalsScheduler::start_round() {
    round_.clear();
    const bool by_time = settings_.objective == Objective::time;
    const auto rounds = static_cast<std::size_t>(EliminationPolicy{}.rounds);
    const auto shares = by_time ? std::min(settings_.workers, rounds / least_per_share) : 1;
    const auto each = by_time ? (rounds + shares - 1) / shares : 1;
    for (std::size_t i = 0; i < shares; ++i) {
        waiting_.push_back(task(FinalTask::Purpose::decide, finals_.playing(), static_cast<int>(each)));
    }
}

void FinalsScheduler::end_round() {
    if (!finals_.playing().empty()) {
        std::vector<std::vector<double>> samples;
        for (const auto player : finals_.playing()) samples.push_back(round_[player]);
        finals_.add(samples);
    }
    if (finals_.playing().empty()) {
        choose(finals_.equals());
    } else {
        start_round();
    }
}

void FinalsScheduler::learn(std::size_t player, const Measurement& measured) {
    const bool by_time = settings_.objective == Objective::time;
    auto& times = times_us_[player];
    auto& round = round_[player];
    times.insert(times.end(), measured.samples_us.begin(), measured.samples_us.end());
    if (by_time) {
        round.insert(round.end(), measured.samples_us.begin(), measured.samples_us.end());
    } else {
        lost_ = lost_ || measured.energy_uj <= 0;  // the counter failed: unknown is not nothing
        round.push_back(measured.energy_uj);
    }
    auto all = measurement_of(times);
    all.clock_khz = measured.clock_khz;
    if (player < settings_.known.size()) {
        const auto& known = settings_.known[player];
        const auto enough = std::min(known.samples_us.size(), static_cast<std::size_t>(EliminationPolicy{}.rounds));
        if (!known.cut_short && times.size() < enough) all = known;
    }
    // Not every round counts energy: what is known of it stays.
    const auto* before = std::get_if<Measurement>(&outcomes_[player]);
    all.energy_uj = measured.energy_uj;
    if (all.energy_uj <= 0 && before != nullptr) all.energy_uj = before->energy_uj;
    if (all.energy_uj <= 0 && player < settings_.known.size()) all.energy_uj = settings_.known[player].energy_uj;
    outcomes_[player] = std::move(all);
}

// Of equals, the one that asks for the least. What it costs in energy and how it compares with the baseline is measured
// at the end.
void FinalsScheduler::choose(const std::vector<std::size_t>& equals) {
    const auto simplest = std::ranges::min_element(equals, {}, [&](std::size_t player) {
        const auto& each = players_[player];
        const auto launch = each.binary() == nullptr ? Launch{} : settings_.launch(each);
        return std::tuple(launch.shared_bytes(), launch.threads(), each.lane->kernel_template().name,
                          to_text(each.configuration));
    });
    if (simplest != equals.end() && players_[*simplest].binary() != nullptr) {
        chosen_ = *simplest;
        if (settings_.energy) waiting_.push_back(task(FinalTask::Purpose::energy, {*chosen_}, 1));
        if (baseline_ && *baseline_ != *chosen_) {
            const auto rounds = settings_.launch_us > steady_us ? 1 : comparing_rounds;
            waiting_.push_back(task(FinalTask::Purpose::compare, {*chosen_, *baseline_}, rounds));
        }
    }
    over_ = waiting_.empty();
}

}  // namespace smemtune
