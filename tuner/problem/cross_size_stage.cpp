#include "tuner/problem/cross_size_stage.h"

#include <algorithm>

#include "tuner/candidates/warm_start.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

namespace {

constexpr std::size_t most_neighbours = 4;  // the number of nearest sizes whose winners are tried

}  // namespace

CrossSizeStage::CrossSizeStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches,
                               TrialLedger& ledger)
    : run_(run), problem_(problem), searches_(searches), ledger_(ledger) {}

// Templates that are clearly slow at this size are left out.
bool CrossSizeStage::find() {
    candidates_.clear();
    if (!ledger_.best_cost()) return false;
    for (const auto& search : searches_) {
        if (!search->keeps_up(*ledger_.best_cost())) continue;
        auto winners =
            winners_nearby(run_.resources.store, run_.device_row, problem_, search->kernel_template(), most_neighbours);
        for (auto& winner : search->untried_among(std::move(winners))) {
            candidates_.push_back({search.get(), std::move(winner)});
        }
    }
    return !candidates_.empty();
}

std::optional<TemplateConfiguration> CrossSizeStage::next() {
    if (candidates_.empty()) return std::nullopt;
    auto candidate = std::move(candidates_.front());
    candidates_.pop_front();
    return candidate;
}

// Earlier finals have compared the winner with the trials of this problem's own search. So only transferred trials are
// compared with the winner now.
FinalsStage::Trials CrossSizeStage::choose_finalists(const TrialLedger::Trial* winner) const {
    const auto verified = ledger_.verified_by_cost();
    if (verified.empty()) return {};
    auto finalists = ledger_.measured_by_cost();
    const auto& best = *verified.front()->measurement();
    const auto limit = *ledger_.cost_of(best) * pruning::finals_limit(best);
    std::size_t transferred = 0;
    std::erase_if(finalists, [&](const auto* trial) {
        if (trial == winner) return false;
        if (!trial->transferred || *ledger_.cost_of(*trial->measurement()) > limit) return true;
        return ++transferred >= FinalsStage::most_finalists;
    });
    return transferred == 0 ? FinalsStage::Trials{} : finalists;
}

}  // namespace smemtune
