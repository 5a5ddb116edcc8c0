// Schedules the finals: finalists are measured again, alternately, until one of them wins.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tuner/finals/final_task.h"
#include "tuner/finals/paired_elimination.h"
#include "tuner/tuning/tune_request.h"

namespace smemtune {

/// Splits the rounds into tasks for workers until PairedElimination has decided. Then the winner's machine code is
/// verified in full. If it is wrong, another finalist is chosen. At the end, the winner's energy is measured and the
/// winner is compared with the baseline. If the baseline was never verified in full, it is verified before the
/// comparison.
class FinalsScheduler {
public:
    struct Settings {
        Objective objective = Objective::time;
        std::size_t workers = 1;       ///< equal devices that share the rounds
        double launch_us = 0;          ///< time of a launch of the best candidate; 0 if unknown
        bool energy = false;           ///< measure the winner's energy at the end, too
        bool verify_baseline = false;  ///< verify the baseline in full before the comparison
        /// Earlier measurements, by entrant; used while there are too few new samples.
        std::vector<Measurement> known{};
        std::function<Launch(const Proposal&)> launch{};  ///< the launch of a compiled entrant, for the tie-break
    };

    /// The first `finalists` of the entrants compete. `baseline` is the index of the entrant that the winner is
    /// compared with. The baseline need not be a finalist.
    FinalsScheduler(std::vector<Proposal> entrants, std::size_t finalists, std::optional<std::size_t> baseline,
                    Settings settings);

    /// Returns the next task. Returns nothing if the finals are over, or if they must wait for tasks that workers have
    /// taken.
    std::optional<FinalTask> next();
    /// Records a task's outcomes: one for each candidate, or nothing if the worker was lost during the task.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes);
    /// Takes back a task whose worker was lost before the task began.
    void give_back(FinalTask task);

    [[nodiscard]] bool is_over() const { return over_; }
    /// The winner's index among the entrants. Nothing if no finalist is valid any more, or if the worker that verified
    /// the chosen finalist was lost. Precondition: is_over() is true.
    [[nodiscard]] std::optional<std::size_t> winner() const { return winner_; }
    /// Whether a worker was lost while it verified the chosen finalist or the baseline.
    [[nodiscard]] bool was_interrupted() const { return interrupted_; }
    /// The new outcome of each entrant that was measured or rejected.
    [[nodiscard]] const std::map<std::size_t, Outcome>& outcomes() const { return outcomes_; }
    /// The entrants that were verified in full in these finals, each with the few samples that were taken during its
    /// verification.
    [[nodiscard]] const std::map<std::size_t, Measurement>& verified() const { return verified_; }

private:
    void start_round();
    void end_round();
    void learn(std::size_t entrant, const Measurement& measured);
    void learn_verdict(std::size_t entrant, const Outcome& outcome);
    void choose_winner(std::vector<std::size_t> equals);
    void choose_winner();
    void end_with_winner();
    void compare_with_baseline();
    [[nodiscard]] bool is_valid(std::size_t entrant) const;
    [[nodiscard]] std::optional<std::size_t> smallest_equal() const;
    [[nodiscard]] std::optional<std::size_t> next_best() const;
    [[nodiscard]] FinalTask task(FinalTask::Purpose purpose, std::vector<std::size_t> entrants, int rounds) const;

    std::vector<Proposal> entrants_;
    std::size_t finalists_;
    std::optional<std::size_t> baseline_;
    Settings settings_;
    PairedElimination elimination_;
    std::deque<FinalTask> waiting_;
    std::size_t taken_ = 0;                                // the number of tasks that workers have now
    std::map<std::size_t, std::vector<double>> round_;     // costs measured since start_round(), by entrant
    std::map<std::size_t, std::vector<double>> times_us_;  // times in all rounds, by entrant
    std::map<std::size_t, Outcome> outcomes_;
    bool incomplete_ = false;            // a task lost its worker, or an energy is unknown
    std::vector<std::size_t> equals_;    // equal finalists, among which a tie-break decides
    std::optional<std::size_t> chosen_;  // the entrant that wins if its verification passes
    std::optional<std::size_t> winner_;
    std::map<std::size_t, Measurement> verified_;
    bool over_ = false;
    bool interrupted_ = false;
};

}  // namespace smemtune
