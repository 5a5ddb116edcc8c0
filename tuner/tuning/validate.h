// Validates a tuning run: tunes the same problems again from nothing with other seeds, and times the winners against
// one another in a fresh process.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/tuning/tune.h"

namespace smemtune {

struct Winner {
    std::string kernel_template;
    Configuration configuration;
    Configuration defaults{};       ///< of the template
    std::vector<unsigned> seeds{};  ///< the seeds that found it
    bool stored = false;            ///< it is also the stored winner
    double us = 0;                  ///< timed alternately with the other winners
    double behind = 0;              ///< time relative to the fastest winner, minus 1: the median of paired ratios
};

struct Validation {
    Problem problem;
    std::vector<Winner> winners;  ///< distinct, fastest first
    std::size_t runs = 0;         ///< runs that found a winner

    /// The largest loss of a run against the best of all winners.
    [[nodiscard]] double worst() const;
    /// The number of runs with a winner within `margin` of the best.
    [[nodiscard]] std::size_t within(double margin) const;
};

struct ValidationReport {
    Device device;
    std::vector<Validation> problems;
    std::size_t seeds = 0;
    bool interrupted = false;
    double seconds = 0;
};

/// Tunes with the seeds after the request's. Each run uses a temporary database; `resources.store` is only read.
/// Workers start with the first worker's options.
ValidationReport validate(TuneRequest request, const std::vector<std::vector<PlannedSpace>>& spaces,
                          const TuneResources& resources, std::size_t seeds, Progress& progress);

/// A table of at most `width` columns (0: any width), and a summary of each problem.
std::string to_text(const ValidationReport& report, std::size_t width = 0);
nlohmann::json to_json(const ValidationReport& report);

}  // namespace smemtune
