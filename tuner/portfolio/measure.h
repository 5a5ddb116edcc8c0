// Measures the times of configurations at the samples where they are valid. A portfolio is chosen by these times.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tuner/portfolio/entries.h"
#include "tuner/portfolio/model/cross_times.h"
#include "tuner/worker/worker.h"

namespace smemtune {

class Progress;

/// The data that all measurements for one portfolio use.
struct MeasureContext {
    const EntrySource& source;
    std::vector<Entry>& entries;
    std::int64_t run_row = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

    [[nodiscard]] bool is_over() const;
};

struct MeasureCounts {
    std::size_t measured = 0, recalled = 0, rejected = 0;
};

/// For each sample, the indices of the entries to time there, the most promising first.
using SamplePairs = std::vector<std::vector<std::size_t>>;

/// Calls work(worker, i) for each problem i. Each worker has a thread of its own. Ends early when context.is_over().
/// Rethrows the first exception.
void on_workers(const MeasureContext& context, const std::vector<Problem>& problems,
                const std::function<void(Worker&, std::size_t)>& work);

TrialInput input_of(const MeasureContext& context, const Entry& entry, const Problem& problem);
void store_trial(const MeasureContext& context, const Entry& entry, std::int64_t problem_row,
                 const TrialReport& report);

/// Fills a table with the times of entries at samples.
class CrossTimer {
public:
    /// Fills the cells of `times` from stored trials. The other members of `times` must be set. Both arguments must
    /// outlive this object.
    CrossTimer(const MeasureContext& context, CrossTimes& times);

    /// Times each pair of a sample and an entry that is valid and has no known outcome. A kernel that fails its first
    /// check is rejected. Then removes all times of entries that were wrong or crashed at any sample, so that none of
    /// them becomes a member. Stores each trial, so a run that ends early, at the deadline or by an interruption, can
    /// be continued.
    void measure(const SamplePairs& pairs, Progress& progress);
    /// Whether all outcomes at the sample are known: one for each of `entries`, except those that are not valid there.
    [[nodiscard]] bool is_known(std::size_t sample, const std::vector<std::size_t>& entries) const;
    [[nodiscard]] const MeasureCounts& counts() const { return counts_; }

private:
    enum class State : char { not_valid, unknown, known };
    void recall(std::size_t sample);
    void learn(std::size_t sample, std::size_t entry, const Measurement& measured);
    void reject(std::size_t entry, const Rejection& rejection);
    void remove_wrong();
    void measure(Worker& worker, std::size_t sample, std::size_t i);

    const MeasureContext& context_;
    CrossTimes& times_;
    std::mutex mutex_;  // guards the store and all members below
    std::vector<std::int64_t> problem_rows_;
    std::vector<std::vector<State>> states_;  // the state of each cell, by sample, then by entry
    // For each sample, the shortest time among trials that were not cut short; 0 if there is none.
    std::vector<double> best_us_;
    std::set<std::size_t> wrong_;  // the entries that were wrong or crashed at a sample
    MeasureCounts counts_;
};

}  // namespace smemtune
