// Chooses the templates that a run searches for each problem, and enumerates their spaces.
#pragma once

#include <memory>
#include <vector>

#include "templates/space/parameter_space.h"
#include "tuner/tuning/tune_request.h"

namespace smemtune {

/// The space of a template for one problem.
struct PlannedSpace {
    const KernelTemplate* kernel_template = nullptr;  ///< owned by the TuneRequest, which must outlive this struct
    std::shared_ptr<const ParameterSpace> space;
};

/// Returns, for each problem, the templates that support it, with their enumerated spaces. The most promising template
/// comes first. Throws std::invalid_argument if no template supports a problem, or if must_fit() throws it.
std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device);

}  // namespace smemtune
