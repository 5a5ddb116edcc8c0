// What a comparison tells at its end.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/bench/bench.h"

namespace smemtune {

/// Where figures come from.
struct Provenance {
    std::string version;  ///< of smemtune
    std::string commit;   ///< empty when nobody said
    std::string date;     ///< UTC
    Device device;
    std::string platform;  ///< driver and CUDA versions; empty for the host
    std::string compiler;
    std::string database;
    std::map<std::string, std::string> peers;  ///< name -> version
    PairPolicy pairs;
    unsigned seed = 0;
};

struct BenchReport {
    Provenance provenance;
    std::vector<ProblemBench> problems;
    bool complete = true;  ///< false when it was interrupted, or failed on the way
};

/// The ratios against one peer, taken together.
struct Overall {
    Cache cache = Cache::cold;
    std::string peer;
    double mean = 0;  ///< geometric
    std::size_t problems = 0;
    std::size_t ahead = 0;   ///< ratios whose interval lies above 1
    std::size_t behind = 0;  ///< below 1; the rest is level
};
std::vector<Overall> overall(const std::vector<ProblemBench>& problems);

/// Tables: each ratio with its interval; what ran; host time of a call; geometric means.
std::string to_text(const BenchReport& report);

nlohmann::json to_json(const BenchReport& report);

}  // namespace smemtune
