// Computes how fast searches approached their best time, from the trials of a database.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace smemtune {

/// How the best time improved from trial to trial, over all templates, for one device and problem.
struct Convergence {
    struct Step {
        std::size_t evaluations = 0;  ///< number of trials so far, including rejected trials
        double seconds = 0;           ///< from the first trial's compile to this trial, without pauses between runs
        double best_us = 0;
        std::int64_t trial = 0;
    };
    std::string device;
    Problem problem;
    std::size_t evaluations = 0;  ///< number of all trials
    double seconds = 0;           ///< from the first trial's compile to the last trial
    std::vector<Step> steps;      ///< one for each improvement of the best time; the last one is the best of all

    /// Returns the first step whose time is within `share` of the best time of all. A share of 0.05 means 5 %.
    /// Precondition: `steps` is not empty.
    [[nodiscard]] const Step& within(double share) const;
    /// Divides the evaluations into `points` equal parts. Returns the best speed after each part as a share of the best
    /// speed of all; 0 before the first measurement.
    [[nodiscard]] std::vector<double> speeds(std::size_t points) const;
};

/// Returns one entry for each device and problem that has a measured trial, in the order of their first trials. A trial
/// that was repeated counts once: at the date of the first attempt, with the time that the last attempt measured.
/// Throws StoreError.
std::vector<Convergence> stored_convergence(const Store& store, Store::Filter filter);

}  // namespace smemtune
