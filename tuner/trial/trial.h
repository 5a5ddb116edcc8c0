// One trial on a device: load, verify, time.
#pragma once

#include <string>
#include <utility>
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

/// The launch of a compiled candidate as it will be, with what the compiler reported in place of the manifest's
/// estimates. Throws ExpressionError.
TrialInput trial_input(const KernelTemplate& kernel_template, const Configuration& configuration,
                       const Problem& problem, const Device& device, const Binary& binary);

/// What became of a trial, and what it cost the worker.
struct TrialReport {
    Outcome outcome;
    double verify_ms = 0;  ///< 0 when it did not get there, like the next
    double time_ms = 0;

    bool operator==(const TrialReport&) const = default;
};

/// A candidate's workspace finds no memory.
class NoRoomForWorkspace : public OutOfMemory {
public:
    using OutOfMemory::OutOfMemory;
};

/// Throws NoRoomForWorkspace, and DeviceFault: then the device is of no use to this process any more.
TrialReport try_candidate(Backend& backend, Testbed& testbed, const TrialInput& input, const SamplingPolicy& policy,
                          double best_us);

/// Microseconds of a batch of launches, and of one of them.
std::pair<double, double> time_batch(Backend& backend, Testbed& testbed, const LoadedKernel& kernel,
                                     const Launch& launch, int launches);

/// Batches of a right kernel until `policy` has enough, after a warm-up: one stops early that is clearly behind
/// `best_us` (0: there is none). `first_launch_us`: what a launch took before, roughly.
Measurement time_kernel(Backend& backend, Testbed& testbed, const LoadedKernel& kernel, const Launch& launch,
                        const SamplingPolicy& policy, double best_us, double first_launch_us);

/// Times finalists against one another: `rounds` times, one batch of each in turn, so that a drifting clock meets all
/// alike. One measurement for each input.
std::vector<Measurement> play_final(Backend& backend, Testbed& testbed, const std::vector<TrialInput>& inputs,
                                    const SamplingPolicy& policy, int rounds);

}  // namespace smemtune
