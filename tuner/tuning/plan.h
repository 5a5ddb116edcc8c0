// Which templates a run searches for each problem, and the space of each.
#pragma once

#include <memory>
#include <vector>

#include "templates/space/parameter_space.h"
#include "tuner/tuning/tune_request.h"

namespace smemtune {

/// A template's space on one problem.
struct PlannedSpace {
    const KernelTemplate* kernel_template = nullptr;  ///< of the request, which must outlive it
    std::shared_ptr<const ParameterSpace> space;
};

/// For each problem the templates that support it, the most promising first, with their spaces enumerated. Throws
/// std::invalid_argument when no template supports a problem.
std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device);

}  // namespace smemtune
