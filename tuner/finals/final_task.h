// One measurement of finalists, done by one worker.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// Candidates to measure alternately.
struct FinalTask {
    enum class Purpose {
        decide,   ///< measure finalists against one another
        compare,  ///< measure the winner against the baseline
        energy,   ///< measure the winner's energy
        verify,   ///< verify one candidate in full, with the machine code that is to be stored
    };
    Purpose purpose = Purpose::decide;
    std::vector<Proposal> candidates{};
    int rounds = 0;
    std::vector<std::size_t> entrants{};  ///< for each candidate, its index among the entrants of the FinalsScheduler
};

}  // namespace smemtune
