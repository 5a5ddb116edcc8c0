// Stored winners timed against peers, in pairs and in one process.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/bench/pairs.h"
#include "tuner/bench/peer.h"

namespace smemtune {

using Cache = Workspace::Cache;
std::string_view to_text(Cache cache);

struct BenchRequest {
    KernelTemplate any_template;  ///< of the operation: for what it computes, and its reference
    std::vector<Problem> problems;
    std::string kernel_template{};  ///< our best of this template alone, unless empty
    std::vector<Cache> caches{Cache::cold, Cache::warm};
    PairPolicy pairs{};
    unsigned seed = 1;  ///< of the operands
};

struct Comparison {
    std::string peer;
    std::string detail;   ///< what the peer ran
    std::string why_not;  ///< there is no ratio: it computes no such thing, or cannot be run
    bool wrong = false;   ///< or computes something wrong, and `why_not` says what
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
    std::string detail;               ///< our template and configuration
    bool stored = false;              ///< the database holds a winner for it
    std::string wrong;                ///< empty, unless our winner cannot be run or computes something wrong
    double operations = 0;            ///< of one launch; 0 when the operation does not say
    std::vector<CacheResult> caches;  ///< warm only where it differs, or where nothing else was asked for
    std::vector<HostTime> host;       ///< empty on the host device, where a launch returns when it is done
};

/// `say` hears of every problem that is done. Every contender is verified on what it is timed on, before it is. Throws
/// DeviceFault, DeviceError, CompilerError.
std::vector<ProblemBench> bench(const BenchRequest& request, Runtime& runtime,
                                std::span<const std::unique_ptr<Peer>> peers,
                                const std::function<void(const ProblemBench&)>& say);

/// Batches of both in turn, AB BA AB ..., until `policy` has enough.
Ratio compare(Backend& backend, Workspace& workspace, const LoadedKernel& ours, const LoadedKernel& theirs,
              const PairPolicy& policy);

/// Wall time until a call returns, in microseconds: the median over bursts of each in turn, with `wait` between them so
/// that no queue fills. `launch_us`: how long what a call enqueues runs, so that bursts stay short.
std::vector<double> host_times(const std::vector<std::function<void()>>& calls, const std::function<void()>& wait,
                               double launch_us);

}  // namespace smemtune
