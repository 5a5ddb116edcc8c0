// Stored trials as results that other autotuners read.
#pragma once

#include <span>
#include <vector>

#include "db/store.h"
#include "tuner/formats/tuning_results.h"

namespace smemtune {

/// The trials of each device, template and problem; of several versions of a template, those of the latest. Times are
/// in milliseconds. A rejection keeps its stage and reason beside the name of the failure that the other tuners know.
/// The values in tune_params are those that were tried.
std::vector<TuningResults> stored_results(const Store& store, std::span<const TrialRow> rows);

}  // namespace smemtune
