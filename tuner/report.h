// What a tuning run tells at its end.
#pragma once

#include <filesystem>
#include <string>

#include "tuner/tune.h"

namespace smemtune {

/// A table: problem, winner, time, TFLOP/s, share of the device's peak, times faster than the baseline; then what was
/// tried and rejected.
std::string to_text(const TuneReport& report);

std::string to_json_text(const TuneReport& report, const std::filesystem::path& database);

}  // namespace smemtune
