// Stored winners timed against competitors, in pairs and in one process.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/bench/competitor.h"
#include "tuner/bench/pairs.h"

namespace smemtune {

using Cache = Testbed::Cache;
std::string_view to_text(Cache cache);

struct BenchRequest {
    KernelTemplate any_template;  ///< of the operation: for what it computes, and its reference
    std::vector<Problem> problems;
    std::string kernel_template{};  ///< our best of this template alone, unless empty
    std::vector<Cache> caches{Cache::cold, Cache::warm};
    PairPolicy pairs{};
    unsigned seed = 1;  ///< of the operands
    /// Asked after every pair: true ends the comparison with what was measured, and stays true.
    std::function<bool()> interrupted = [] { return false; };
};

struct Comparison {
    std::string competitor;
    KernelDescription kernel{};  ///< that it ran; without a name, none did
    std::string why_not;  ///< why there is no ratio: it has no such kernel, cannot run it, is wrong, or was interrupted
    bool wrong = false;   ///< it computes something wrong, and `why_not` says what
    Ratio ratio{};
};

struct CacheResult {
    Cache cache = Cache::cold;
    Measurement ours;  ///< alone, before the pairs
    std::vector<Comparison> comparisons;
};

struct HostTime {
    std::string who;
    double us = 0;  ///< of one call, until it returns: what it enqueues runs on
};

struct ProblemBench {
    Problem problem;
    KernelDescription kernel{};       ///< ours
    bool stored = false;              ///< the database holds a winner for it
    std::string wrong;                ///< empty, unless our winner cannot be run or computes something wrong
    std::string why_not;              ///< empty, unless the device could not measure all of it
    double operations = 0;            ///< of one launch; 0 when the operation does not say
    std::vector<CacheResult> caches;  ///< warm only where it differs, or where nothing else was asked for
    std::vector<HostTime> host;       ///< empty on the host device, where a launch returns when it is done
};

/// Calls `report` with each problem when it is done, also when the device was out of memory for it. A competitor is
/// verified on the operands that it is then timed on. Throws DeviceFault, CompilerError.
void bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> competitors,
           const std::function<void(ProblemBench)>& report);

/// Batches of both in turn, AB BA AB ..., until `policy` has enough, or one pair and no more once `interrupted`.
Ratio compare(
    Backend& backend, Testbed& testbed, const BoundKernel& ours, const BoundKernel& theirs, const PairPolicy& policy,
    const std::function<bool()>& interrupted = [] { return false; });

/// Wall time until a call returns, in microseconds: the median over bursts of each in turn, with `wait` between them so
/// that no queue fills. `launch_us`: how long what a call enqueues runs, so that bursts stay short.
std::vector<double> host_times(const std::vector<std::function<void()>>& calls, const std::function<void()>& wait,
                               double launch_us);

}  // namespace smemtune
