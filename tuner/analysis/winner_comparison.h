// Compares the winners of two databases.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.h"

namespace smemtune {

/// What two runs of the same code differ by, whatever their samples say: 1 %.
constexpr double noise_between_runs = 0.01;

/// The winners for a device and problem that at least one of two databases holds.
struct WinnerPair {
    std::string device;
    Problem problem;
    std::optional<TrialRow> first, second;  ///< nothing if the database has no winner for it
};

/// Ordered by device and problem. Throws StoreError.
std::vector<WinnerPair> winner_pairs(const Store& first, const Store& second, const Store::Filter& filter);

/// The 95 % confidence interval of the median time, in us, from the samples of one run. Nothing without samples.
std::optional<std::pair<double, double>> median_interval(const Measurement& measured);

/// How much faster the second winner is.
struct SpeedChange {
    enum class Verdict { faster, slower, equal };
    double ratio = 1;                  ///< time of the first / time of the second
    double low = 1, high = 1;          ///< from the ends of both median_interval()
    Verdict verdict = Verdict::equal;  ///< faster or slower only if both bounds lie beyond noise_between_runs
};

/// Nothing unless both databases have a winner.
std::optional<SpeedChange> speed_change(const WinnerPair& pair);

}  // namespace smemtune
