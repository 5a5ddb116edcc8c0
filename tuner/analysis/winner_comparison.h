// Compares the winners of two databases.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.h"

namespace smemtune {

/// The times of one kernel in two runs may differ by 1 %, even if the confidence interval of each time is narrower.
constexpr double noise_between_runs = 0.01;

/// The winners of two databases for one device and problem.
struct WinnerPair {
    std::string device;
    Problem problem;
    std::optional<TrialRow> first, second;  ///< nothing if the database has no winner for the problem
};

/// Returns a pair for each device and problem that has a winner in at least one database, ordered by device and
/// problem. Throws StoreError.
std::vector<WinnerPair> winner_pairs(const Store& first, const Store& second, const Store::Filter& filter);

/// Returns the 95 % confidence interval of the median time, in us, from the samples of one run. Returns nothing if
/// there are no samples.
std::optional<std::pair<double, double>> median_interval(const Measurement& measured);

/// How much faster the second winner of a pair is than the first.
struct SpeedChange {
    enum class Verdict { faster, slower, equal };
    double ratio = 1;                  ///< time of the first winner / time of the second winner
    double low = 1, high = 1;          ///< bounds of `ratio`, from both winners' median_interval()
    Verdict verdict = Verdict::equal;  ///< `equal` unless low > 1 + noise_between_runs or high < 1 - noise_between_runs
};

/// Returns nothing if the pair lacks a winner.
std::optional<SpeedChange> speed_change(const WinnerPair& pair);

}  // namespace smemtune
