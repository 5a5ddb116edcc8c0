// Whether figures that were true once are true still: the ratios of an earlier comparison against those of this one.
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
/// Of what `smemtune bench --json` wrote. Throws std::invalid_argument when it did not write this.
std::vector<Figure> figures_of(const nlohmann::json& report);

struct Change {
    Figure before, now;
};

struct Changes {
    std::size_t compared = 0;
    std::vector<Change> fallen;        ///< the worst first
    std::vector<Change> risen;         ///< the best first
    std::vector<std::string> missing;  ///< there was a figure, and there is none now
};

/// More than noise is a change of more than half a percent, with intervals that do not meet.
Changes changes(const std::vector<Figure>& before, const std::vector<Figure>& now);

/// One line for each change, and one in any case.
std::string to_text(const Changes& changes);

}  // namespace smemtune
