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

    /// All arguments must outlive it.
    FinalsStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches, TrialLedger& ledger);

    /// The trials that may be the fastest; empty if there is nothing to decide.
    [[nodiscard]] Trials choose_finalists() const;
    /// Begins finals of these trials (at least one) and the fastest baseline: submits their programs to the compiler.
    /// If all of them turn out to be wrong, further finals follow, until a trial wins or none is left.
    void start(Trials finalists);
    /// Whether the finals wait for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// The next task for one of `workers`, who share the rounds. Nothing if the finals are over or depend on tasks that
    /// workers have. Precondition: started, and not compiling.
    std::optional<FinalTask> next(std::size_t workers);
    /// Reports one outcome for each candidate, or nothing if the task lost its worker.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes);
    /// Takes back a task whose worker was lost before the task began.
    void give_back(FinalTask task);
    /// Whether the winner is decided and stored.
    [[nodiscard]] bool is_over() const { return scheduler_ && scheduler_->is_over(); }

    /// The winner of the finals. If there were none, or if an earlier winner that took no part is still the best: the
    /// stored winner if the ledger has it, else the trial with the least cost. Null if nothing was measured.
    [[nodiscard]] const TrialLedger::Trial* winner() const;
    /// Fixes the present winner() until the next finals, whatever is measured in the meantime.
    void keep_winner() { winner_ = winner(); }

private:
    [[nodiscard]] Trials choose_further_finalists() const;
    void start_scheduler(std::size_t workers);
    void set_winner();
    [[nodiscard]] TrialRecord renewed(std::size_t entrant) const;
    [[nodiscard]] bool is_settled(const TrialLedger::Trial& best) const;
    [[nodiscard]] bool has_its_code(const TrialRow& stored) const;
    [[nodiscard]] bool competes(const TrialRow& stored) const;

    const TuneRun& run_;
    const Problem& problem_;
    const TemplateSearches& searches_;
    TrialLedger& ledger_;
    Trials entrants_;  // the finalists, and the baseline unless it is a finalist
    std::size_t finalists_ = 0;
    std::optional<std::size_t> baseline_;  // index among the entrants
    std::vector<Proposal> proposals_;      // by entrant
    std::optional<FinalsScheduler> scheduler_;
    const TrialLedger::Trial* winner_ = nullptr;
};

}  // namespace smemtune
