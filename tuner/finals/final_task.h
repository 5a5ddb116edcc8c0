// One measurement of finalists, done by one worker.
#pragma once

#include <vector>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// Candidates to measure alternately.
struct FinalTask {
    enum class Purpose {
        decide,   ///< finalists against one another
        compare,  ///< the winner against the baseline
        energy,   ///< the winner's energy
        verify,   ///< one candidate in full, with the machine code that is to be stored
    };
    Purpose purpose = Purpose::decide;
    std::vector<Proposal> candidates{};
    int rounds = 0;
    std::vector<std::size_t> entrants{};  ///< each candidate's index in the FinalsScheduler
};

}  // namespace smemtune
