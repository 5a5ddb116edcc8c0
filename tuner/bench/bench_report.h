// Prints a comparison as tables and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// The origin of a report's figures.
struct Provenance {
    std::string command_line;  ///< the command that measured the figures
    std::string version;       ///< smemtune's version
    std::string commit;        ///< smemtune's commit; empty when unknown
    std::string date;          ///< UTC
    Device device;
    std::string platform;  ///< driver and CUDA versions; empty for the host
    std::string compiler;
    std::string database;
    std::map<std::string, std::string> competitors;  ///< name -> version
    PairPolicy pairs;
    unsigned seed = 0;
    bool tf32_override = false;  ///< NVIDIA_TF32_OVERRIDE=1 was set: NVIDIA's libraries may compute in TF32
};

struct BenchReport {
    Provenance provenance;
    std::vector<ProblemBench> problems;
    bool complete = true;                             ///< false if the run was interrupted or failed
    std::map<std::string, Configuration> defaults{};  ///< each template's default configuration, by name
};

/// A summary of the ratios against one competitor.
struct Overall {
    Cache cache = Cache::cold;
    std::string competitor;
    double mean = 0;  ///< geometric mean
    std::size_t problems = 0;
    std::size_t ahead = 0;   ///< ratios whose 95 % interval lies above 1
    std::size_t behind = 0;  ///< ratios whose interval lies below 1; the rest are level
};
std::vector<Overall> overall(const std::vector<ProblemBench>& problems);

/// Tables of at most `width` columns (0: any width), in this order: each ratio with its interval, the kernels, the host
/// time of a call, the geometric means.
std::string to_text(const BenchReport& report, std::size_t width = 0);

/// The `bench` document of docs/json.md.
nlohmann::json to_json(const BenchReport& report);

}  // namespace smemtune
