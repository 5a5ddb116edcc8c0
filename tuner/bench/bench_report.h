// Prints the results of `smemtune bench` as tables and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// How, where and with what the figures of a report were measured.
struct Provenance {
    std::string command_line;  ///< the command line that measured the figures
    std::string version;       ///< smemtune's version
    std::string commit;        ///< smemtune's commit; empty when unknown
    std::string date;          ///< date and time of the measurement in UTC
    Device device;
    std::string platform;  ///< driver and CUDA versions; empty for the host device
    std::string compiler;
    std::string database;
    std::map<std::string, std::string> competitors;  ///< version of each competitor, by name
    PairPolicy pairs;
    unsigned seed = 0;
    bool tf32_override = false;  ///< whether NVIDIA_TF32_OVERRIDE=1 let NVIDIA's libraries compute in TF32
};

struct BenchReport {
    Provenance provenance;
    std::vector<ProblemBench> problems;
    bool complete = true;                             ///< false if the run was interrupted or failed
    std::map<std::string, Configuration> defaults{};  ///< default configuration of each template, by name
};

/// A summary of all ratios against one competitor with one cache setting.
struct Overall {
    Cache cache = Cache::cold;
    std::string competitor;
    double mean = 0;  ///< geometric mean of the ratios
    std::size_t problems = 0;
    std::size_t ahead = 0;   ///< ratios whose 95 % interval lies above 1
    std::size_t behind = 0;  ///< ratios whose interval lies below 1; all others are level
};
std::vector<Overall> overall(const std::vector<ProblemBench>& problems);

/// Returns tables of at most `width` columns (0: any width), in this order: the ratios with their intervals, the
/// kernels, the host times of a call, the geometric means.
std::string to_text(const BenchReport& report, std::size_t width = 0);

/// Returns the `bench` document that docs/json.md describes.
nlohmann::json to_json(const BenchReport& report);

}  // namespace smemtune
