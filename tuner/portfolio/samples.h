// The problems that a portfolio is built from: drawn, or read from a file of the application's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct Sample {
    Problem problem;
    double count = 1;  ///< how often the application asks for it
};

/// The bounds of drawn extents, both included.
struct ExtentRange {
    std::int64_t low = 16, high = 12000;
};

/// Distinct problems whose extents are drawn log-uniformly: a third of them multiples of 64, a quarter of 8, the rest
/// any. The same seed draws the same problems. Fewer than `count` if the range has fewer problems.
std::vector<Sample> draw_samples(const Operation& operation, const std::string& type, const std::string& layout,
                                 std::size_t count, ExtentRange range, unsigned seed);

/// One problem per line, `4096x11008x128`, optionally followed by a count; `#` begins a comment. Counts of equal
/// problems are added. Throws std::invalid_argument, which names the line.
std::vector<Sample> parse_samples(const std::string& text, const Operation& operation, const std::string& type,
                                  const std::string& layout);

/// The indices of all samples in an order where each one is as far as possible from the earlier ones, by the logarithms
/// of the extents. The first sample is the nearest to the mean.
std::vector<std::size_t> spread_order(const std::vector<Sample>& samples);

/// The kind of a problem, for a report: `small` (below 2^24 operations), `narrow` (an output matrix with fewer than 64
/// rows or columns), `deep` (more than 8 times as many steps as the geometric mean of the output's extents), or
/// `square`.
std::string kind_of(const Operation& operation, const Problem& problem, const Device& device);

}  // namespace smemtune
