// What `smemtune bench --against` names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench_report.h"
#include "tuner/bench/changes.h"

namespace smemtune {

/// An earlier comparison.
struct PreviousReport {
    std::string path, commit, date, device;
    std::vector<Figure> figures;
};

struct Baselines {
    std::vector<std::string> libraries;
    std::vector<std::filesystem::path> databases;
    std::optional<PreviousReport> earlier;
};

/// A comma-separated list of cublas, cublaslt, databases and at most one JSON file of an earlier comparison; both
/// libraries where it names nobody to compare with. Throws std::invalid_argument.
Baselines parse_baselines(const std::string& list);

/// What changed by more than noise since then.
std::string since(const PreviousReport& earlier, const BenchReport& report);

}  // namespace smemtune
