// Times stored winners against competitors, in pairs, within one process.
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
    KernelTemplate any_template;  ///< any template of the operation, for its reference
    std::vector<Problem> problems;
    std::string kernel_template{};  ///< if not empty: only our best kernel of this template
    std::vector<Cache> caches{Cache::cold, Cache::warm};
    PairPolicy pairs{};
    bool served = false;  ///< times what a fetch serves, with any match, instead of winners; no host times
    unsigned seed = 1;    ///< of the random operands
    /// Called after every pair. Once it returns true, it must keep doing so: the comparison ends with the results so
    /// far.
    std::function<bool()> interrupted = [] { return false; };
};

struct Comparison {
    std::string competitor;
    KernelDescription kernel{};  ///< the kernel that ran; its name is empty if none ran
    std::string why_not;         ///< why there is no ratio: no such kernel, cannot run, wrong result, or interrupted
    bool wrong = false;          ///< its result is wrong; `why_not` has the details
    Ratio ratio{};
};

struct CacheResult {
    Cache cache = Cache::cold;
    Measurement ours;  ///< our kernel alone, before the pairs
    std::vector<Comparison> comparisons;
};

struct HostTime {
    std::string who;
    double us = 0;  ///< duration of one call; the launched work may still run
};

struct ProblemBench {
    Problem problem;
    KernelDescription kernel{};       ///< ours
    bool stored = false;              ///< the database has a winner for this problem, or with `served`, any kernel
    std::string match{};              ///< how closely the served kernel matches; empty for winners
    std::string wrong;                ///< why our winner cannot run or is wrong; empty if it is right
    std::string why_not;              ///< why the device could not measure everything; empty if it could
    double operations = 0;            ///< operations of one launch; 0 if the operation does not declare them
    std::vector<CacheResult> caches;  ///< warm only where it differs from cold, or where only warm was requested
    std::vector<HostTime> host;       ///< empty on the host device, where a launch returns when it is done
};

/// Calls `report` with each problem when it is done, even if the device was out of memory for it. Competitors are
/// verified and timed on the same operands. Throws DeviceFault, CompilerError.
void bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> competitors,
           const std::function<void(ProblemBench)>& report);

/// Times batches of both kernels alternately, AB BA AB ..., until `policy` has enough. Once `interrupted` returns true,
/// it stops after the first complete pair.
Ratio compare(
    Backend& backend, Testbed& testbed, const BoundKernel& ours, const BoundKernel& theirs, const PairPolicy& policy,
    const std::function<bool()>& interrupted = [] { return false; });

/// The wall time in microseconds until each call returns: the median over bursts. The bursts of the calls alternate.
/// `wait` runs between bursts, so that no queue fills. `launch_us` is the device time of one call; it limits the length
/// of a burst.
std::vector<double> host_times(const std::vector<std::function<void()>>& calls, const std::function<void()>& wait,
                               double launch_us);

}  // namespace smemtune
