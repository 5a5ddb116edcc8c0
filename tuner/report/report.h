// The final report of a tuning run.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/tuning/tune.h"

namespace smemtune {

/// Tables of at most `width` columns (0: any width): winners with their speed, searches, and the time of sizes and
/// workers. Then the numbers of tried and rejected configurations, with the reasons.
std::string to_text(const TuneReport& report, std::size_t width = 0);

/// The `tune` document of docs/json.md.
nlohmann::json to_json(const TuneReport& report, const std::filesystem::path& database);

}  // namespace smemtune
