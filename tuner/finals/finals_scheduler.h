// The end of a problem's tuning: finalists are measured again, in turn, and one of them wins.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tuner/finals/paired_elimination.h"
#include "tuner/problem/task.h"

namespace smemtune {

class FinalsScheduler {
public:
    struct Settings {
        Objective objective = Objective::time;
        std::size_t workers = 1;                          ///< equal devices, that share the rounds
        double launch_us = 0;                             ///< of the best, as far as known
        bool energy = false;                              ///< measure the winner's when it is not the aim
        std::vector<Measurement> known{};                 ///< by player: stands until there are as many samples anew
        std::function<Launch(const Proposal&)> launch{};  ///< of a compiled candidate: of equals, the least wins
    };

    /// `baseline` is one of the players: what the winner is compared with is measured beside it. It need not be a
    /// finalist, and those are the first `finalists`.
    FinalsScheduler(std::vector<Proposal> players, std::size_t finalists, std::optional<std::size_t> baseline,
                    Settings settings);

    /// Nothing when it is over, or when what is left depends on tasks in workers' hands.
    std::optional<FinalTask> next();
    /// One outcome for each candidate of the task; nothing when the workers were lost over them.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes);
    void give_back(FinalTask task);

    [[nodiscard]] bool is_over() const { return over_; }
    /// Of the players; nothing when none was right any more. Precondition: over.
    [[nodiscard]] std::optional<std::size_t> winner() const { return chosen_; }
    /// What was found out, by player: measured anew, or rejected.
    [[nodiscard]] const std::map<std::size_t, Outcome>& outcomes() const { return outcomes_; }

private:
    void start_round();
    void end_round();
    void learn(std::size_t player, const Measurement& measured);
    void choose(const std::vector<std::size_t>& equals);
    [[nodiscard]] std::vector<std::size_t> first_left() const;
    [[nodiscard]] FinalTask task(FinalTask::Purpose purpose, std::vector<std::size_t> players, int rounds) const;

    std::vector<Proposal> players_;
    std::optional<std::size_t> baseline_;
    Settings settings_;
    PairedElimination finals_;
    std::deque<FinalTask> waiting_;
    std::size_t in_hand_ = 0;
    std::map<std::size_t, std::vector<double>> round_;     // samples of what decides, of this round
    std::map<std::size_t, std::vector<double>> times_us_;  // samples over all rounds
    std::map<std::size_t, Outcome> outcomes_;
    bool lost_ = false;  // a task, with its workers
    std::optional<std::size_t> chosen_;
    bool over_ = false;
};

}  // namespace smemtune
