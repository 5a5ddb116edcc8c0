// One trial on a device: load, verify, time.
#pragma once

#include <optional>
#include <vector>

#include "db/outcome.h"
#include "runtime/backend.h"
#include "tuner/trial/sampling.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

struct TrialInput {
    Binary binary;
    Launch launch;
};

/// The launch of a compiled candidate, with the registers and static shared bytes that the compiler reported in place
/// of the manifest's estimates. Throws ExpressionError.
TrialInput trial_input(const KernelTemplate& kernel_template, const Configuration& configuration,
                       const Problem& problem, const Device& device, const Binary& binary);

/// The outcome of a trial, and the time that it cost the worker.
struct TrialReport {
    Outcome outcome;
    double verify_ms = 0;  ///< 0 when the trial ended before, as `time_ms`
    double time_ms = 0;

    bool operator==(const TrialReport&) const = default;
};

/// There is no memory for a candidate's workspace.
class NoRoomForWorkspace : public OutOfMemory {
public:
    using OutOfMemory::OutOfMemory;
};

/// `best_us`: the fastest candidate so far. Throws NoRoomForWorkspace, OutOfMemory, and DeviceFault: then this process
/// cannot use the device any more.
TrialReport try_candidate(Backend& backend, Testbed& testbed, const TrialInput& input, const SamplingPolicy& policy,
                          std::optional<double> best_us);

struct BatchTime {
    double batch_us = 0;   ///< all launches
    double launch_us = 0;  ///< one of them
};
BatchTime time_batch(Backend& backend, Testbed& testbed, const BoundKernel& kernel, int launches);

/// Times batches of a right kernel until `policy` has enough, after a warm-up. A kernel that is clearly slower than
/// `best_us`, the fastest so far, is cut short. `first_launch_us`: roughly what a launch took before.
Measurement time_kernel(Backend& backend, Testbed& testbed, const BoundKernel& kernel, const SamplingPolicy& policy,
                        std::optional<double> best_us = std::nullopt,
                        std::optional<double> first_launch_us = std::nullopt);

/// Times finalists against one another: one batch of each in turn, `rounds` times, so that a drifting clock meets all
/// alike. Returns one measurement for each input.
std::vector<Measurement> play_final(Backend& backend, Testbed& testbed, const std::vector<TrialInput>& inputs,
                                    const SamplingPolicy& policy, int rounds);

}  // namespace smemtune
