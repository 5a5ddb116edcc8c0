// Memory for the values of a Predictor's rules. The next ranking on the same thread uses this memory again.
#pragma once

#include <memory>

#include "templates/predict/bound_launch.h"

namespace smemtune {

class LeasedScratch {
public:
    /// Takes the memory that an earlier object of this thread has left, if there is any.
    LeasedScratch();
    /// Leaves the memory to later objects of this thread.
    ~LeasedScratch();
    LeasedScratch(LeasedScratch&&) noexcept = default;
    LeasedScratch& operator=(LeasedScratch&&) noexcept = default;

    BoundLaunch::Scratch& operator*() { return *scratch_; }

private:
    std::unique_ptr<BoundLaunch::Scratch> scratch_;  // null after a move
};

}  // namespace smemtune
