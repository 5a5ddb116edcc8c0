// Compares the ratios of a previous report with those of this one.
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
/// Reads the JSON that `smemtune bench --json` wrote. Throws std::invalid_argument when it is something else.
std::vector<Figure> figures_of(const nlohmann::json& report);

struct Change {
    Figure before, now;
};

struct Changes {
    std::size_t compared = 0;
    std::vector<Change> fallen;        ///< the worst first
    std::vector<Change> risen;         ///< the best first
    std::vector<std::string> missing;  ///< names of ratios that were not measured now
};

/// More than noise is a change of more than half a percent, with intervals that do not meet.
Changes changes(const std::vector<Figure>& before, const std::vector<Figure>& now);

/// One line for each change, and one in any case.
std::string to_text(const Changes& changes);

}  // namespace smemtune
