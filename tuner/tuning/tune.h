// The entry point of a tuning run.
#pragma once

#include <vector>

#include "tuner/tuning/plan.h"
#include "tuner/tuning/tune_report.h"
#include "tuner/tuning/tune_request.h"
#include "tuner/tuning/tune_resources.h"

namespace smemtune {

class Progress;

/// Searches `spaces` (from plan()), and stores every outcome and each problem's winner. Throws WorkerError if the last
/// worker is lost.
TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces,
                const TuneResources& resources, Progress& progress);

}  // namespace smemtune
