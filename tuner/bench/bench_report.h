// The report of a comparison, as tables and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// How the figures of a report came about.
struct Provenance {
    std::string command_line;  ///< that measured the figures
    std::string version;       ///< of smemtune
    std::string commit;        ///< empty when nobody said
    std::string date;          ///< UTC
    Device device;
    std::string platform;  ///< driver and CUDA versions; empty for the host
    std::string compiler;
    std::string database;
    std::map<std::string, std::string> competitors;  ///< name -> version
    PairPolicy pairs;
    unsigned seed = 0;
};

struct BenchReport {
    Provenance provenance;
    std::vector<ProblemBench> problems;
    bool complete = true;                             ///< false when it was interrupted, or failed on the way
    std::map<std::string, Configuration> defaults{};  ///< of the templates, by name
};

/// The ratios against one competitor, taken together.
struct Overall {
    Cache cache = Cache::cold;
    std::string competitor;
    double mean = 0;  ///< geometric
    std::size_t problems = 0;
    std::size_t ahead = 0;   ///< ratios whose interval lies above 1
    std::size_t behind = 0;  ///< below 1; the rest is level
};
std::vector<Overall> overall(const std::vector<ProblemBench>& problems);

/// Tables of at most `width` columns (0: of any width): each ratio with its interval; the kernels; host time of a call;
/// then the geometric means.
std::string to_text(const BenchReport& report, std::size_t width = 0);

/// The content of the document `bench` of docs/json.md.
nlohmann::json to_json(const BenchReport& report);

}  // namespace smemtune
