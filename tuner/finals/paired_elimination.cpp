#include "tuner/finals/paired_elimination.h"

#include <algorithm>
#include <numeric>

#include "util/statistics.h"

namespace smemtune {

PairedElimination::PairedElimination(std::size_t finalists, const EliminationPolicy& policy)
    : policy_(policy), samples_(finalists), remaining_(finalists) {
    std::iota(remaining_.begin(), remaining_.end(), std::size_t{0});
    if (finalists < 2) {
        equals_ = remaining_;
        remaining_.clear();
    }
}

void PairedElimination::add(const std::vector<std::vector<double>>& samples) {
    for (std::size_t i = 0; i < remaining_.size(); ++i) {
        auto& own = samples_[remaining_[i]];
        own.insert(own.end(), samples[i].begin(), samples[i].end());
    }
    decide();
}

void PairedElimination::drop(std::size_t finalist) {
    std::erase(equals_, finalist);
    if (std::erase(remaining_, finalist) == 0) return;  // it failed before, or the finals are decided
    if (remaining_.size() < 2) {
        equals_ = remaining_;
        remaining_.clear();
    }
}

void PairedElimination::decide() {
    const auto leader =
        *std::ranges::min_element(remaining_, {}, [&](std::size_t each) { return median(samples_[each]); });
    bool certain = true;
    std::vector<std::size_t> left;
    for (const auto each : remaining_) {
        const auto [low, high] = ratio_interval(samples_[each], samples_[leader]);
        if (low > 1 + policy_.equal) continue;  // this finalist is certainly slower than the leader
        left.push_back(each);
        certain = certain && high <= 1 + policy_.equal;
    }
    remaining_ = std::move(left);
    if (!certain && static_cast<int>(samples_[leader].size()) < policy_.most_rounds) return;
    // When all rounds are used up, an undecided finalist counts as equal if its median is close enough to the leader's.
    const auto bar = median(samples_[leader]) * (1 + policy_.equal);
    std::erase_if(remaining_, [&](std::size_t each) { return median(samples_[each]) > bar; });
    equals_ = std::move(remaining_);
    remaining_.clear();
}

}  // namespace smemtune
