// Cross-size transfer: when all problems of a run are done, each tries the winners of its nearest sizes.
#pragma once

#include <deque>
#include <optional>

#include "tuner/problem/finals_stage.h"
#include "tuner/problem/search_pipeline.h"

namespace smemtune {

class CrossSizeStage {
public:
    /// All arguments must outlive it.
    CrossSizeStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches, TrialLedger& ledger);

    /// Collects the stored winners of the nearest sizes that were not tried here; false when there are none.
    bool find();
    /// The next of them.
    std::optional<TemplateConfiguration> next();
    /// Drops those that were not given yet.
    void clear() { candidates_.clear(); }
    /// The winner and the transferred trials that may be better in truth; none when there are no such trials.
    [[nodiscard]] FinalsStage::Trials choose_finalists(const TrialLedger::Trial* winner) const;

private:
    const TuneRun& run_;
    const Problem& problem_;
    const TemplateSearches& searches_;
    TrialLedger& ledger_;
    std::deque<TemplateConfiguration> candidates_;
};

}  // namespace smemtune
