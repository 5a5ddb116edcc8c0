// The problems from which a portfolio is built. They are drawn at random, or read from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct Sample {
    Problem problem;
    double count = 1;  ///< the weight of this problem: how often the application asks for it
};

/// The bounds of drawn extents, both included.
struct ExtentRange {
    std::int64_t low = 16, high = 12000;
};

/// Draws `count` distinct problems with log-uniform extents. An extent that is a number of matrices (BATCH) is in
/// 1..64, any other extent is in `range`. An extent is rounded to a multiple of 64 with probability 1/3, and to a
/// multiple of 8 with probability 1/4. The same seed draws the same problems. Returns fewer than `count` problems if
/// the range has too few.
std::vector<Sample> draw_samples(const Operation& operation, const std::string& type, const std::string& layout,
                                 std::size_t count, ExtentRange range, unsigned seed);

/// Parses a file with one problem per line, such as `4096x11008x128`, optionally followed by a count. `#` begins a
/// comment. The counts of equal problems are added. Throws std::invalid_argument, whose message names the line.
std::vector<Sample> parse_samples(const std::string& text, const Operation& operation, const std::string& type,
                                  const std::string& layout);

/// Orders the samples so that each one is as far as possible from all earlier ones, by the logarithms of the extents.
/// The first sample is the nearest to the mean. Returns the indices of the samples.
std::vector<std::size_t> spread_order(const std::vector<Sample>& samples);

/// The kind of a problem, for a report. `small`: fewer than 2^24 operations. `narrow`: an output matrix has fewer
/// than 64 rows or columns. `deep`: the number of k-steps is more than 8 * sqrt(rows * columns) of the output.
/// `square`: all others.
std::string kind_of(const Operation& operation, const Problem& problem, const Device& device);

}  // namespace smemtune
