// The report at the end of a tuning run.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/tuning/tune.h"

namespace smemtune {

/// Tables of at most `width` columns (0: of any width): the winners with their speed, the searches, where the time of
/// sizes and workers went; then how many configurations were tried and rejected, and why.
std::string to_text(const TuneReport& report, std::size_t width = 0);

/// The content of the document `tune` of docs/json.md.
nlohmann::json to_json(const TuneReport& report, const std::filesystem::path& database);

}  // namespace smemtune
