// Replays searches over a recorded landscape and counts the evaluations that each needs to come near the optimum.
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
    std::string search;  ///< one of search_names()
    std::size_t evaluations = 1000;
    unsigned repeats = 30;
    unsigned seed = 1;          ///< of the first repeat; the next one's is one more
    std::size_t in_flight = 1;  ///< proposals that are pending before the oldest is observed
    std::vector<Configuration> starts{};
    StoppingPolicy stopping{};  ///< when a tuning run would end; the replay goes on
    unsigned threads = 1;       ///< repeats at a time; the results do not depend on it
};

struct ReplayResult {
    /// Evaluations until the best cost so far is at most optimum / fraction. Failed configurations count as
    /// evaluations.
    struct Level {
        double fraction = 0;
        double median = std::numeric_limits<double>::infinity();  ///< infinite for a repeat that never gets there
        unsigned never = 0;                                       ///< repeats that never get there
    };
    /// Mean over the repeats of optimum / best so far; 0 before the first success.
    struct Mark {
        std::size_t evaluations = 0;
        double fraction = 0;  ///< not a number when fewer evaluations were asked for
    };
    std::string search;
    std::array<Level, 3> levels{Level{.fraction = 0.90}, Level{.fraction = 0.95}, Level{.fraction = 0.99}};
    std::array<Mark, 3> marks{Mark{.evaluations = 50}, Mark{.evaluations = 100}, Mark{.evaluations = 200}};
    /// When a tuning run would have ended because further gain was unlikely; else the end of the replay.
    struct Ending {
        double evaluations = 0;  ///< median
        double fraction = 0;     ///< mean of optimum / best
        unsigned short_of = 0;   ///< repeats that had less than 95 % of the optimum
    };
    Ending ending;
    double evaluations = 0;        ///< mean per repeat; fewer than asked for if the space is used up
    double us_per_evaluation = 0;  ///< real time inside the search's next() and observe()
};

/// Throws std::invalid_argument for an unknown search, and whatever the search throws.
ReplayResult replay(const Landscape& landscape, const ReplayRequest& request);

/// Orders results: fewer evaluations to 95 % of the optimum first; then fewer repeats that never get there; then the
/// larger share at the last mark.
bool better(const ReplayResult& a, const ReplayResult& b);

}  // namespace smemtune
