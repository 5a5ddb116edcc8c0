// How fast searches approached their best time, from the trials of a database.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace smemtune {

/// The best time so far, over the trials of one device and problem and of all their templates.
struct Convergence {
    struct Step {
        std::size_t evaluations = 0;  ///< trials up to here, rejected ones included
        double seconds = 0;           ///< since the first trial began to compile, less the time between runs
        double best_us = 0;
        std::int64_t trial = 0;
    };
    std::string device;
    Problem problem;
    std::size_t evaluations = 0;  ///< all trials
    double seconds = 0;           ///< until the last trial
    std::vector<Step> steps;      ///< one for each improvement; the last one has the best time of all

    /// The first step within `share` of the best time of all: 0.05 is within 5 %. Precondition: `steps` is not empty.
    [[nodiscard]] const Step& within(double share) const;
    /// The speed so far as a share of the best, after each of `points` equal parts of the evaluations; 0 before the
    /// first measurement.
    [[nodiscard]] std::vector<double> speeds(std::size_t points) const;
};

/// One entry for each device and problem that has a measured trial, in the order of their first trials. A trial that
/// was repeated counts once, where it was first tried, with its last time. Throws StoreError.
std::vector<Convergence> stored_convergence(const Store& store, Store::Filter filter);

}  // namespace smemtune
