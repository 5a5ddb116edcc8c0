// Formats the output of `smemtune db compare`, `db importance` and `db convergence`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tuner/analysis/convergence.h"
#include "tuner/analysis/stored_importance.h"
#include "tuner/analysis/winner_comparison.h"

namespace smemtune {

/// `first` and `second` are the names of the databases.
std::string comparison_text(std::span<const WinnerPair> pairs, const std::string& first, const std::string& second,
                            std::size_t width);
/// Returns an array, which docs/json.md describes.
nlohmann::json comparison_json(std::span<const WinnerPair> pairs);

std::string importance_text(std::span<const StoredImportance> groups, std::size_t width);
nlohmann::json importance_json(std::span<const StoredImportance> groups);
/// For CSV: a row for each parameter of each group.
nlohmann::json importance_rows(std::span<const StoredImportance> groups);

std::string convergence_text(std::span<const Convergence> problems, std::size_t width);
nlohmann::json convergence_json(std::span<const Convergence> problems);
/// For CSV: a row for each improvement of the best time of each problem.
nlohmann::json convergence_rows(std::span<const Convergence> problems);

}  // namespace smemtune
