// A worker's task.
#pragma once

#include <variant>

#include "tuner/finals/final_task.h"

namespace smemtune {

/// A candidate to verify and time.
struct TrialTask {
    Proposal candidate;
};

using Task = std::variant<TrialTask, FinalTask>;

}  // namespace smemtune
