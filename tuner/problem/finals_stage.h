// The finals of a problem: the best candidates are measured again, alternately, and one of them is stored as the
// winner.
#pragma once

#include <optional>
#include <vector>

#include "tuner/finals/finals_scheduler.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

class FinalsStage {
public:
    using Trials = std::vector<TrialLedger::Trial*>;
    static constexpr std::size_t most_finalists = 8;

    /// All arguments must outlive the stage.
    FinalsStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches, TrialLedger& ledger);

    /// Returns the trials that may be the fastest. If no trial is verified, returns the fastest of those that were
    /// measured. Empty if none was measured, or if an earlier run has decided among the same trials.
    [[nodiscard]] Trials choose_finalists() const;
    /// Begins finals of `finalists` (at least one). Submits their programs to the compiler, and also the program of
    /// the baseline trial with the least cost. If all finalists turn out to be wrong, finals of other trials follow,
    /// until a trial wins or no trial is left.
    void start(Trials finalists);
    /// Whether the finals wait for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// Returns the next task for one of `workers` workers, which share the rounds. Returns nothing if the finals are
    /// over, or if they must wait for tasks that workers have taken. Precondition: start() was called, and
    /// is_compiling() is false.
    std::optional<FinalTask> next(std::size_t workers);
    /// Records a task's outcomes: one for each candidate, or nothing if the worker was lost during the task.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes);
    /// Takes back a task whose worker was lost before the task began.
    void give_back(FinalTask task);
    /// Whether the winner is decided and stored.
    [[nodiscard]] bool is_over() const { return scheduler_ && scheduler_->is_over(); }

    /// Returns the winner of the finals. Returns the stored winner instead in two cases: there were no finals, or an
    /// earlier run's winner took no part in the finals and is still the best. If the stored winner is not in the
    /// ledger, returns the verified trial with the least cost. Null if no trial was verified.
    [[nodiscard]] const TrialLedger::Trial* winner() const;
    /// Makes winner() return the present winner until the next finals, even if faster trials follow.
    void keep_winner() { winner_ = winner(); }

private:
    [[nodiscard]] Trials first_by_cost() const;
    void start_scheduler(std::size_t workers);
    void set_winner();
    [[nodiscard]] TrialRecord renewed(std::size_t entrant) const;
    [[nodiscard]] bool is_settled(const TrialLedger::Trial& best) const;
    [[nodiscard]] bool has_its_code(const TrialRow& stored) const;
    [[nodiscard]] bool is_superseded(const TrialRow& stored) const;
    [[nodiscard]] bool competes(const TrialRow& stored) const;

    const TuneRun& run_;
    const Problem& problem_;
    const TemplateSearches& searches_;
    TrialLedger& ledger_;
    Trials entrants_;  // the finalists, then the baseline if it is not a finalist
    std::size_t finalists_ = 0;
    std::optional<std::size_t> baseline_;  // the baseline's index among the entrants
    std::vector<Proposal> proposals_;      // the proposals of the entrants, one for each
    std::optional<FinalsScheduler> scheduler_;
    const TrialLedger::Trial* winner_ = nullptr;
};

}  // namespace smemtune
