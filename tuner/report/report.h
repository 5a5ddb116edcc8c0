// Formats the final report of a tuning run as text and JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/tuning/tune.h"

namespace smemtune {

/// Formats tables of the winners with their speed, of the searches, and of the times of sizes and workers. Below them
/// are the numbers of tried and rejected configurations, with the reasons. Proposed commands name `database`. Lines
/// have at most `width` characters; 0 means any width.
std::string to_text(const TuneReport& report, const std::filesystem::path& database, std::size_t width = 0);

/// Says for each template why its default configuration is not valid, in a paragraph each. Empty if the problem has a
/// valid configuration. `width` is as for to_text().
std::string invalid_text(const ProblemResult& result, std::size_t width = 0);

/// The `tune` document of docs/json.md.
nlohmann::json to_json(const TuneReport& report, const std::filesystem::path& database);

}  // namespace smemtune
