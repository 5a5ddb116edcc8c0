// The baselines of a comparison, as `smemtune bench --against` lists them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench_report.h"
#include "tuner/bench/changes.h"

namespace smemtune {

/// The report of an earlier `smemtune bench --json`.
struct PreviousReport {
    std::string path, commit, date, device;
    std::vector<Figure> figures;
};

struct Baselines {
    std::vector<std::string> libraries;
    std::vector<std::filesystem::path> databases;
    std::optional<PreviousReport> previous;
};

/// Parses `list`: any of cublas, cublaslt, databases and at most one JSON file of a previous report, separated by
/// commas. A list without libraries and databases means both libraries. Throws std::invalid_argument.
Baselines parse_baselines(const std::string& list);

/// Describes the ratios that changed by more than noise.
std::string changes_since(const PreviousReport& previous, const BenchReport& report);

}  // namespace smemtune
