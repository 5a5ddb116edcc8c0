#include "util/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace smemtune {

namespace {

// Returns the largest r with P(X < r) <= 2.5 % for X ~ binomial(n, 1/2), or 0 if n is too small. Order statistics r and
// n + 1 - r, counted from 1, enclose the median with 95 % confidence.
std::size_t rank_of_interval(std::size_t n) {
    // log(n choose k). With logarithms, because 2^-n is 0 for a large n.
    const auto all = static_cast<double>(n);
    const auto choices = [&](std::size_t k) {
        const auto chosen = static_cast<double>(k);
        return std::lgamma(all + 1) - std::lgamma(chosen + 1) - std::lgamma(all - chosen + 1);
    };
    double below = 0;  // P(X < k)
    for (std::size_t k = 0; k < n; ++k) {
        below += std::exp(choices(k) - all * std::log(2.0));
        if (below > 0.025) return k;
    }
    return 0;
}

}  // namespace

double quantile(std::vector<double> values, double fraction) {
    std::ranges::sort(values);
    const auto at = fraction * static_cast<double>(values.size() - 1);
    const auto lower = static_cast<std::size_t>(at);
    const auto upper = std::min(lower + 1, values.size() - 1);
    const auto weight = at - static_cast<double>(lower);
    if (weight == 0 || values[lower] == values[upper]) return values[lower];  // avoids NaN from infinite values
    return values[lower] + weight * (values[upper] - values[lower]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b) {
    std::vector<double> ratios(a.size());
    std::ranges::transform(a, b, ratios.begin(), std::divides{});
    std::ranges::sort(ratios);
    const auto rank = std::max<std::size_t>(1, rank_of_interval(ratios.size()));
    return {ratios[rank - 1], ratios[ratios.size() - rank]};
}

}  // namespace smemtune
