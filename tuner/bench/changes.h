// Compares this report's ratios with those of a previous report.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// A ratio that a comparison found, with its interval.
struct Figure {
    std::string name;  ///< `gemm f32 nn 512x512x512, cold, cublas`
    double ratio = 0, low = 0, high = 0;
};

std::vector<Figure> figures_of(const std::vector<ProblemBench>& problems);
/// Reads the output of `smemtune bench --json`. Throws std::invalid_argument if the text is something else.
std::vector<Figure> figures_of(const nlohmann::json& report);

struct Change {
    Figure before, now;
};

struct Changes {
    std::size_t compared = 0;
    std::vector<Change> fallen;        ///< the worst first
    std::vector<Change> risen;         ///< the best first
    std::vector<std::string> missing;  ///< names of previous ratios that were not measured now
};

/// A change counts if it exceeds half a percent and the two intervals do not overlap.
Changes changes(const std::vector<Figure>& before, const std::vector<Figure>& now);

/// A summary line, one line for each change, and one for the missing ratios, if any.
std::string to_text(const Changes& changes);

}  // namespace smemtune
