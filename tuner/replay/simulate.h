// Replays searches over a recorded landscape. Counts the evaluations that each search needs to come near the optimum.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tuner/replay/landscape.h"
#include "tuner/search/stopping.h"

namespace smemtune {

struct ReplayRequest {
    std::string search;  ///< the search's name, one of search_names()
    std::size_t evaluations = 1000;
    unsigned repeats = 30;
    unsigned seed = 1;          ///< seed of the first repeat; each further repeat uses the next seed
    std::size_t in_flight = 1;  ///< how many proposals are pending at a time; the oldest one is observed first
    std::vector<Configuration> starts{};
    StoppingPolicy stopping{};  ///< determines when a tuning run would stop; the replay goes on
    unsigned threads = 1;       ///< how many repeats run at once; the results do not depend on it
};

struct ReplayResult {
    /// The number of evaluations until the best cost so far is at most optimum / fraction, where optimum is the lowest
    /// cost in the landscape. Failed configurations count as evaluations.
    struct Level {
        double fraction = 0;
        /// Median over the repeats; a repeat that never reaches the level counts as infinite.
        double median = std::numeric_limits<double>::infinity();
        unsigned never = 0;  ///< the number of repeats that never reach the level
    };
    /// The mean of optimum / best cost over the repeats, after `evaluations`. A repeat without a success counts as 0.
    struct Mark {
        std::size_t evaluations = 0;
        double fraction = 0;  ///< NaN if fewer evaluations were requested
    };
    std::string search;
    std::array<Level, 3> levels{Level{.fraction = 0.90}, Level{.fraction = 0.95}, Level{.fraction = 0.99}};
    std::array<Mark, 3> marks{Mark{.evaluations = 50}, Mark{.evaluations = 100}, Mark{.evaluations = 200}};
    /// The point at which a tuning run would stop because further gain is unlikely, or else the end of the replay.
    struct Ending {
        double evaluations = 0;  ///< median of the evaluations over the repeats
        double fraction = 0;     ///< mean of optimum / best cost over the repeats
        unsigned short_of = 0;   ///< the number of repeats whose speed is below 95 % of the optimum's
    };
    Ending ending;
    double evaluations = 0;        ///< mean number per repeat; fewer than requested if the space was used up
    double us_per_evaluation = 0;  ///< microseconds spent in the search's next() and observe(), for each evaluation
};

/// Throws std::invalid_argument for an unknown search, and the search's own exceptions.
ReplayResult replay(const Landscape& landscape, const ReplayRequest& request);

/// Whether `a` is better than `b`: its median number of evaluations to reach 95 % of the optimum's speed is lower. If
/// the medians are equal, the result with fewer repeats that never reach this level is better. If these numbers are
/// equal, too, the result with the larger fraction at the last mark is better.
bool better(const ReplayResult& a, const ReplayResult& b);

}  // namespace smemtune
