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
    Configuration defaults{};       ///< the template's default configuration
    std::vector<unsigned> seeds{};  ///< the seeds whose runs found this winner
    bool stored = false;            ///< whether this configuration is also the winner in the database
    double us = 0;                  ///< median time, measured alternately with the other winners
    /// This winner's time divided by the fastest winner's time, minus 1: the median over pairs of samples.
    double behind = 0;
};

struct Validation {
    Problem problem;
    std::vector<Winner> winners;  ///< the distinct winners of all runs, fastest first
    std::size_t runs = 0;         ///< how many runs found a winner

    /// The largest `behind` of the winners that runs found.
    [[nodiscard]] double worst() const;
    /// The number of runs whose winner is at most `margin` behind the fastest winner.
    [[nodiscard]] std::size_t within(double margin) const;
};

struct ValidationReport {
    Device device;
    std::vector<Validation> problems;
    std::size_t seeds = 0;
    bool interrupted = false;
    double seconds = 0;
};

/// Tunes `seeds` times: with the request's seed plus 1, then plus 2, and so on. Each run writes to a temporary database
/// of its own, and `resources.store` does not change. Then the first of `resources.workers` times the winners of each
/// problem in a fresh process.
ValidationReport validate(TuneRequest request, const std::vector<std::vector<PlannedSpace>>& spaces,
                          const TuneResources& resources, std::size_t seeds, Progress& progress);

/// Returns a table that is at most `width` characters wide (0: any width), and a summary of each problem.
std::string to_text(const ValidationReport& report, std::size_t width = 0);
nlohmann::json to_json(const ValidationReport& report);

}  // namespace smemtune
