// What winners are compared with: the list that `smemtune bench --against` takes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench_report.h"
#include "tuner/bench/changes.h"

namespace smemtune {

/// The report that an earlier `smemtune bench --json` wrote.
struct PreviousReport {
    std::string path, commit, date, device;
    std::vector<Figure> figures;
};

struct Baselines {
    std::vector<std::string> libraries;
    std::vector<std::filesystem::path> databases;
    std::optional<PreviousReport> previous;
};

/// Parses `list`, which is separated by commas: cublas, cublaslt, database files, and at most one JSON file of a
/// previous report. A list without libraries and databases means both libraries. Throws std::invalid_argument.
Baselines parse_baselines(const std::string& list);

/// Returns a text about the ratios of `report` that differ from the ratios of `previous` by more than noise.
std::string changes_since(const PreviousReport& previous, const BenchReport& report);

}  // namespace smemtune
