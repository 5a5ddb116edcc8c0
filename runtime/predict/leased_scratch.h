// Memory for a ranking of a Predictor. The next ranking on the same thread uses this memory again.
#pragma once

#include <memory>

#include "runtime/predict/predictor.h"

namespace smemtune {

class LeasedScratch {
public:
    /// Takes the memory that an earlier object of this thread has left, if there is any.
    LeasedScratch();
    /// Leaves the memory to later objects of this thread.
    ~LeasedScratch();
    LeasedScratch(LeasedScratch&&) noexcept = default;
    LeasedScratch& operator=(LeasedScratch&&) noexcept = default;

    Predictor::Scratch& operator*() { return *scratch_; }

private:
    std::unique_ptr<Predictor::Scratch> scratch_;  // null after a move
};

}  // namespace smemtune
