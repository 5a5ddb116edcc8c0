// What a tuning run tells at its end.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/tuning/tune.h"

namespace smemtune {

/// A table: problem, winner, time, TFLOP/s, share of the device's peak, times faster than the baseline; then what was
/// tried and rejected.
std::string to_text(const TuneReport& report);

nlohmann::json to_json(const TuneReport& report, const std::filesystem::path& database);

}  // namespace smemtune
