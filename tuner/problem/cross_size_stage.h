// Cross-size transfer: when all problems of a run are done, each one tries the winners of its nearest sizes.
#pragma once

#include <deque>
#include <optional>

#include "tuner/problem/finals_stage.h"
#include "tuner/problem/search_pipeline.h"

namespace smemtune {

class CrossSizeStage {
public:
    /// All arguments must outlive the stage.
    CrossSizeStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches, TrialLedger& ledger);

    /// Collects those stored winners of the nearest sizes that this problem has not tried. Returns false if there are
    /// none.
    bool find();
    /// Returns the next collected winner; nothing after the last.
    std::optional<TemplateConfiguration> next();
    /// Drops the collected winners that next() has not returned.
    void clear() { candidates_.clear(); }
    /// Returns `winner` and those transferred trials that may be faster. Empty if no transferred trial may be faster.
    [[nodiscard]] FinalsStage::Trials choose_finalists(const TrialLedger::Trial* winner) const;

private:
    const TuneRun& run_;
    const Problem& problem_;
    const TemplateSearches& searches_;
    TrialLedger& ledger_;
    std::deque<TemplateConfiguration> candidates_;
};

}  // namespace smemtune
