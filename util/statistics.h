// Statistics by rank, which assume nothing about the distribution of the samples.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace smemtune {

/// Returns a quantile, by linear interpolation between the sorted values. Fraction 0 gives the smallest value, fraction
/// 1 the largest. Infinite values are allowed. Precondition: `values` is not empty.
double quantile(std::vector<double> values, double fraction);

/// Returns quantile(values, 0.5).
double median(std::vector<double> values);

/// The smallest number of pairs for which the smallest and the largest ratio enclose the median with at least 95 %
/// confidence. With 6 pairs, the confidence is 1 - 2 * 0.5^6 = 0.97.
inline constexpr std::size_t least_for_interval = 6;

/// Returns the 95 % confidence interval of the median of the ratios a[k] / b[k], by order statistics (Conover,
/// Practical Nonparametric Statistics, section 3.2). With fewer than `least_for_interval` pairs, the interval reaches
/// from the smallest to the largest ratio, and its confidence is below 95 %. Precondition: `a` and `b` have the same
/// length and are not empty.
std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b);

}  // namespace smemtune
