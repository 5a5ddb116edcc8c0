#include "tuner/finals/paired_elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/trial/sampling.h"

namespace smemtune {

namespace {

// The largest r so that fewer than 2.5 % of binomial(n, 1/2) lie below r: with it, order statistics r and n + 1 - r
// (counted from 1) enclose the median in 95 of 100 cases. 0 when n is too small for any.
std::size_t rank_of_interval(std::size_t n) {
    double probability = std::pow(0.5, static_cast<double>(n));  // of exactly k
    double below = 0;
    std::size_t k = 0;
    while (below + probability <= 0.025) {
        below += probability;
        probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
        ++k;
    }
    return k;
}

double median(std::span<const double> values) { return quantile({values.begin(), values.end()}, 0.5); }

}  // namespace

std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b) {
    std::vector<double> ratios(a.size());
    std::ranges::transform(a, b, ratios.begin(), std::divides{});
    std::ranges::sort(ratios);
    const auto rank = std::max<std::size_t>(1, rank_of_interval(ratios.size()));
    return {ratios[rank - 1], ratios[ratios.size() - rank]};
}

PairedElimination::PairedElimination(std::size_t finalists, const EliminationPolicy& policy)
    : policy_(policy), samples_(finalists), playing_(finalists) {
    std::iota(playing_.begin(), playing_.end(), std::size_t{0});
    if (finalists < 2) {
        equals_ = playing_;
        playing_.clear();
    }
}

void PairedElimination::add(const std::vector<std::vector<double>>& samples) {
    for (std::size_t i = 0; i < playing_.size(); ++i) {
        auto& own = samples_[playing_[i]];
        own.insert(own.end(), samples[i].begin(), samples[i].end());
    }
    decide();
}

void PairedElimination::drop(std::size_t finalist) {
    std::erase(equals_, finalist);
    if (std::erase(playing_, finalist) == 0) return;  // by another share of the same round
    if (playing_.size() < 2) {
        equals_ = playing_;
        playing_.clear();
    }
}

void PairedElimination::decide() {
    const auto leader =
        *std::ranges::min_element(playing_, {}, [&](std::size_t each) { return median(samples_[each]); });
    bool certain = true;
    std::vector<std::size_t> left;
    for (const auto each : playing_) {
        const auto [low, high] = ratio_interval(samples_[each], samples_[leader]);
        if (low > 1 + policy_.equal) continue;  // certainly behind
        left.push_back(each);
        certain = certain && high <= 1 + policy_.equal;
    }
    playing_ = std::move(left);
    if (!certain && static_cast<int>(samples_[leader].size()) < policy_.most_rounds) return;
    // Undecided after so many rounds, a finalist is an equal if it looks like one.
    const auto bar = median(samples_[leader]) * (1 + policy_.equal);
    std::erase_if(playing_, [&](std::size_t each) { return median(samples_[each]) > bar; });
    equals_ = std::move(playing_);
    playing_.clear();
}

}  // namespace smemtune
