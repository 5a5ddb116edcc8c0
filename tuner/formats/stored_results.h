// Converts stored trials to results that other autotuners can read.
#pragma once

#include <span>
#include <vector>

#include "db/store.h"
#include "tuner/formats/tuning_results.h"

namespace smemtune {

/// Returns one result for each device, template and problem. If trials used several versions of a template, only trials
/// of the latest version are included. Times are in milliseconds. A rejection keeps its stage and reason, and gets the
/// name that other tuners use for the failure. `tune_params` lists only values that were tried.
std::vector<TuningResults> stored_results(const Store& store, std::span<const TrialRow> rows);

}  // namespace smemtune
