// One measurement of finalists by one worker.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// Candidates to measure in turn with one another.
struct FinalTask {
    enum class Purpose {
        decide,   ///< finalists, against one another
        compare,  ///< the winner and the baseline
        energy,   ///< the winner alone
    };
    Purpose purpose = Purpose::decide;
    std::vector<Proposal> candidates{};
    int rounds = 0;
    std::vector<std::size_t> entrants{};  ///< index of each candidate in the FinalsScheduler
};

}  // namespace smemtune
