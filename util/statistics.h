// Rank statistics: they assume nothing about the distribution of the samples.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace smemtune {

/// Linear interpolation between the order statistics: fraction 0 gives the least value, 1 the largest. Infinite values
/// are allowed. Precondition: not empty.
double quantile(std::vector<double> values, double fraction);

/// quantile(values, 0.5).
double median(std::vector<double> values);

/// The fewest pairs whose least and largest ratio enclose the median with 95 % confidence: 1 - 2 * 0.5^6 = 0.97.
inline constexpr std::size_t least_for_interval = 6;

/// The 95 % confidence interval of the median of the ratios a[k] / b[k], by order statistics (Conover, Practical
/// Nonparametric Statistics, section 3.2). With fewer than `least_for_interval` pairs, it is the whole range.
/// Precondition: a and b are equally long and not empty.
std::pair<double, double> ratio_interval(std::span<const double> a, std::span<const double> b);

}  // namespace smemtune
