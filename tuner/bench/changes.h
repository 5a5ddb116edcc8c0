// Compares the ratios of two reports of `smemtune bench`.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// A measured ratio with its 95 % interval.
struct Figure {
    std::string name;  ///< such as `gemm f32 nn 512x512x512, cold, cublas`
    double ratio = 0, low = 0, high = 0;
};

std::vector<Figure> figures_of(const std::vector<ProblemBench>& problems);
/// Reads the ratios from the output of `smemtune bench --json`. Throws std::invalid_argument if `report` is something
/// else.
std::vector<Figure> figures_of(const nlohmann::json& report);

struct Change {
    Figure before, now;
};

struct Changes {
    std::size_t compared = 0;
    std::vector<Change> fallen;        ///< ratios that became worse for us, the worst first
    std::vector<Change> risen;         ///< ratios that became better for us, the best first
    std::vector<std::string> missing;  ///< names of earlier ratios that were not measured now
};

/// Returns the ratios that changed by more than half a percent and whose two intervals do not overlap.
Changes changes(const std::vector<Figure>& before, const std::vector<Figure>& now);

/// Returns a summary line, one line for each change, and one line about missing ratios, if any.
std::string to_text(const Changes& changes);

}  // namespace smemtune
