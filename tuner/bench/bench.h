// Times stored winners and competitors alternately, within one process.
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
    KernelTemplate any_template;  ///< any template of the operation; the reference is taken from it
    std::vector<Problem> problems;
    std::string kernel_template{};  ///< if not empty, the best kernel of this template is timed instead of the winner
    std::vector<Cache> caches{Cache::cold, Cache::warm};
    PairPolicy pairs{};
    /// Whether to time the kernels that a fetch returns, instead of the winners. Host times are then not measured.
    bool served = false;
    unsigned seed = 1;  ///< seed of the random operands
    /// Called after every pair. Once this function returns true, the comparison ends with the results so far. From then
    /// on, it must always return true.
    std::function<bool()> interrupted = [] { return false; };
    /// Called before each step that may hang, with a text that names the step (Watchdog::begin()).
    std::function<void(const std::string&)> begin_step = [](const std::string&) {};
};

struct Comparison {
    std::string competitor;
    KernelDescription kernel{};  ///< the kernel that ran; its name is empty if no kernel ran
    std::string why_not;         ///< why there is no ratio: no kernel, failed launch, wrong result, or interrupted
    bool wrong = false;          ///< the kernel's result is wrong; `why_not` has the details
    Ratio ratio{};
};

struct CacheResult {
    Cache cache = Cache::cold;
    Measurement ours;  ///< times of our kernel alone, measured before the pairs
    std::vector<Comparison> comparisons;
};

struct HostTime {
    std::string who;
    double us = 0;  ///< host time until a call returns; its kernel may still run
};

struct ProblemBench {
    Problem problem;
    KernelDescription kernel{};  ///< our kernel, which was measured
    /// Whether the database has a winner for the problem. If BenchRequest::served is true: whether a fetch returns
    /// any kernel.
    bool stored = false;
    std::string match{};              ///< Match of the served kernel, such as `exact`; empty for winners
    std::string wrong;                ///< why our kernel cannot run or is wrong; empty if it is right
    std::string why_not;              ///< why measuring failed on the device; empty if it did not
    double operations = 0;            ///< arithmetic operations of one launch; 0 if the manifest declares none
    std::vector<CacheResult> caches;  ///< one per requested setting; only `cold` if cold and warm are the same
    /// Empty if BenchRequest::served is true. Also empty on the host device, where a launch returns only when the
    /// kernel has ended.
    std::vector<HostTime> host;
};

/// Calls `report` after each problem, even if the device had too little memory for it. Competitors are verified and
/// timed on the same operands as our kernels. Throws DeviceFault, CompilerError.
void bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> competitors,
           const std::function<void(ProblemBench)>& report);

/// Times batches of both kernels alternately, AB BA AB ..., until `policy` has enough pairs. Once `interrupted` returns
/// true, stops after the current pair.
Ratio compare(
    Backend& backend, Testbed& testbed, const BoundKernel& ours, const BoundKernel& theirs, const PairPolicy& policy,
    const std::function<bool()>& interrupted = [] { return false; });

/// Returns for each call the wall time in microseconds until it returns: the median over several bursts of calls.
/// Bursts of different calls alternate. `wait` must wait for the device. It runs between bursts, so that no queue
/// fills. `launch_us` is the device time of one call; it limits the length of a burst.
std::vector<double> host_times(const std::vector<std::function<void()>>& calls, const std::function<void()>& wait,
                               double launch_us);

}  // namespace smemtune
