// Chooses the templates that a run searches for each problem, and enumerates their spaces.
#pragma once

#include <memory>
#include <vector>

#include "templates/space/parameter_space.h"
#include "tuner/tuning/tune_request.h"

namespace smemtune {

/// A template's space on one problem.
struct PlannedSpace {
    const KernelTemplate* kernel_template = nullptr;  ///< belongs to the request, which must outlive it
    std::shared_ptr<const ParameterSpace> space;
};

/// For each problem, the templates that support it, with their enumerated spaces, most promising first. Throws
/// std::invalid_argument if no template supports a problem.
std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device);

}  // namespace smemtune
