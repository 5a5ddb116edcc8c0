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
struct Earlier {
    std::string path, commit, date, device;
    std::vector<Figure> figures;
};

struct Against {
    std::vector<std::string> libraries;
    std::vector<std::filesystem::path> databases;
    std::optional<Earlier> earlier;
};

/// A comma-separated list of cublas, cublaslt, databases and at most one JSON file of an earlier comparison; both
/// libraries where it names nobody to compare with. Throws std::invalid_argument.
Against parse_against(const std::string& list);

/// What changed by more than noise since then.
std::string since(const Earlier& earlier, const BenchReport& report);

}  // namespace smemtune
