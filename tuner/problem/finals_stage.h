// The end of a problem's search: the best candidates are measured again in turn, and one of them is stored as winner.
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

    /// The trials that may be the best in truth; none when there is nothing to decide.
    [[nodiscard]] Trials choose_finalists() const;
    /// Begins finals of these, at least one, beside the fastest baseline: has their programs compiled.
    void start(Trials finalists);
    /// Whether the finals wait for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// For one of `workers`, who share the rounds. Nothing when it is over or depends on tasks that workers have.
    /// Precondition: started, and not compiling.
    std::optional<FinalTask> next(std::size_t workers);
    /// One outcome for each candidate; nothing when the worker was lost over them.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes);
    /// The worker was lost before it began.
    void give_back(FinalTask task);
    /// Whether the winner is decided and stored.
    [[nodiscard]] bool is_over() const { return scheduler_ && scheduler_->is_over(); }

    /// The winner of the finals. Where there were none, or an earlier winner that is not known here stands: the stored
    /// winner among what is known, or else the least cost. Null when nothing was measured.
    [[nodiscard]] const TrialLedger::Trial* winner() const;
    /// Keeps the present winner() until the next finals, whatever is measured meanwhile.
    void keep_winner() { winner_ = winner(); }

private:
    void start_scheduler(std::size_t workers);
    void set_winner();
    [[nodiscard]] bool is_settled(const TrialLedger::Trial& best) const;
    [[nodiscard]] bool competes(const TrialRow& stored) const;

    const TuneRun& run_;
    const Problem& problem_;
    const TemplateSearches& searches_;
    TrialLedger& ledger_;
    Trials entrants_;  // the finalists, then the baseline unless it is one of them
    std::size_t finalists_ = 0;
    std::optional<std::size_t> baseline_;  // among the entrants
    std::vector<Proposal> proposals_;      // of the entrants
    std::optional<FinalsScheduler> scheduler_;
    const TrialLedger::Trial* winner_ = nullptr;
};

}  // namespace smemtune
