// Runs one trial on a device: load, verify, time.
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
    Configuration parameters{};  ///< values of the operation's own parameters (Operation::parameters)
};

/// The launch of a compiled candidate. The compiler's registers and static shared memory replace the manifest's
/// estimates. Throws ExpressionError.
TrialInput trial_input(const KernelTemplate& kernel_template, const Configuration& configuration,
                       const Problem& problem, const Device& device, const Binary& binary);

/// The outcome of a trial, and how long the worker took.
struct TrialReport {
    Outcome outcome;
    double verify_ms = 0;   ///< time spent on verification; 0 if there was none
    double time_ms = 0;     ///< time spent on timing; 0 if there was none
    bool verified = false;  ///< whether the candidate passed every check
    /// Whether the budget ended the trial. The candidate may be right, so this outcome must not be stored.
    bool unfinished = false;

    bool operator==(const TrialReport&) const = default;
};

/// There is not enough memory for a candidate's workspace.
class NoRoomForWorkspace : public OutOfMemory {
public:
    using OutOfMemory::OutOfMemory;
};

/// Loads, verifies and times a candidate. `best_us` is the time of the fastest candidate so far. `verified_best_us` is
/// the time of the fastest candidate of the same template that passed all checks. A candidate whose timing was cut
/// short runs only the first check. So does a candidate that is not faster than `verified_best_us`, unless energy is
/// measured. Throws NoRoomForWorkspace and OutOfMemory. Throws DeviceFault if this process can no longer use the
/// device.
TrialReport try_candidate(Backend& backend, Testbed& testbed, const TrialInput& input, const SamplingPolicy& policy,
                          std::optional<double> best_us, std::optional<double> verified_best_us = std::nullopt);

/// Verifies a kernel that was timed before. Runs all checks, launches the kernel up to 1000 times, then compares the
/// outputs of a batch of launches. The outcome is a rejection, or a measurement with a single sample. Throws as
/// try_candidate() does.
TrialReport verify_candidate(Backend& backend, Testbed& testbed, const TrialInput& input, const SamplingPolicy& policy);

struct BatchTime {
    double batch_us = 0;   ///< microseconds for all launches of the batch
    double launch_us = 0;  ///< mean microseconds for one launch
};
/// Times one batch of about `launches` launches (Testbed::batch()).
BatchTime time_batch(Backend& backend, Testbed& testbed, const BoundKernel& kernel, int launches);

/// Times batches of a right kernel, after a warm-up, until `policy` has enough samples. Timing is cut short if the
/// kernel is clearly slower than `best_us`, the fastest so far. `first_launch_us` is the approximate time of an earlier
/// launch.
Measurement time_kernel(Backend& backend, Testbed& testbed, const BoundKernel& kernel, const SamplingPolicy& policy,
                        std::optional<double> best_us = std::nullopt,
                        std::optional<double> first_launch_us = std::nullopt);

/// Times finalists against one another, one batch of each per round, so that clock drift affects all alike. There are
/// `rounds` rounds. Returns one measurement for each input.
std::vector<Measurement> play_final(Backend& backend, Testbed& testbed, const std::vector<TrialInput>& inputs,
                                    const SamplingPolicy& policy, int rounds);

}  // namespace smemtune
