#include "tuner/trial/trial.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/configured_kernel.h"
#include "runtime/workspace.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

double energy_of(Backend& backend, Testbed& testbed, const BoundKernel& kernel, int launches) {
    return backend.energy_uj(testbed.batch(kernel, launches));
}

ConfiguredKernel load(Backend& backend, const TrialInput& input) {
    std::shared_ptr<const LoadedKernel> kernel = backend.load(input.binary, input.launch.dynamic_shared_bytes);
    try {
        // Timed launches do not copy values to symbols (`__constant__` and `__device__` arrays), because an application
        // changes these values rarely, not before every launch.
        return {with_workspace(std::move(kernel), input.launch, backend), input.launch, FillSymbols::when_asked};
    } catch (const OutOfMemory& error) {
        throw NoRoomForWorkspace("a workspace of " + std::to_string(input.launch.workspace->bytes) +
                                 " bytes: " + error.what());
    }
}

// Whether the first launch was so slow that its time is stored without further timing.
bool is_hopeless(const SamplingPolicy& policy, std::optional<double> best_us, double first_launch_us) {
    return best_us && first_launch_us > pruning::first_launch_limit_us(policy.behind, *best_us);
}

// Launches the kernel as often as `verify_us` allows. The verification that follows then also rejects a kernel that is
// right at first and wrong later.
void launch_often(Backend& backend, Testbed& testbed, const BoundKernel& kernel, double launch_us) {
    constexpr double verify_us = 50'000;
    constexpr double most_launches = 1000;
    // The time is limited, too: if arguments are restored before each launch, batches are short, and restoring takes
    // extra time.
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(2 * verify_us);
    auto left = static_cast<int>(std::clamp(verify_us / launch_us, 0.0, most_launches));
    while (left > 0 && Clock::now() < end) {
        const auto calls = testbed.batch(kernel, left);
        (void)backend.time_us(calls);
        left -= static_cast<int>(calls.size());
    }
}

// Whether the candidate is faster than each candidate of its template that passed all checks. Only such a candidate
// runs all checks in its trial, because they can take ten times as long as a launch. The winner of the finals
// must pass every check in any case.
bool is_new_best(const SamplingPolicy& policy, std::optional<double> verified_best_us, const Measurement& measured) {
    if (measured.cut_short) return false;
    if (policy.energy || !verified_best_us) return true;  // a slower kernel may need less energy
    return measured.median_us < *verified_best_us;
}

}  // namespace

BatchTime time_batch(Backend& backend, Testbed& testbed, const BoundKernel& kernel, int launches) {
    const auto calls = testbed.batch(kernel, launches);
    const auto batch_us = backend.time_us(calls);
    return {batch_us, batch_us / static_cast<double>(calls.size())};
}

TrialInput trial_input(const KernelTemplate& kernel_template, const Configuration& configuration,
                       const Problem& problem, const Device& device, const Binary& binary) {
    TrialInput input{binary, launch_of(kernel_template, configuration, problem, device)};
    if (binary.resources.registers > 0) {
        input.launch.registers = binary.resources.registers;
        input.launch.static_shared_bytes = binary.resources.static_shared_bytes;
    }
    for (const auto& [name, value] : kernel_template.operation.parameters) {
        if (const auto found = configuration.values.find(name); found != configuration.values.end()) {
            input.parameters.values[name] = found->second;
        }
    }
    return input;
}

Measurement time_kernel(Backend& backend, Testbed& testbed, const BoundKernel& kernel, const SamplingPolicy& policy,
                        std::optional<double> best_us, std::optional<double> first_launch_us) {
    // The number of launches per batch follows from the time of one warm-up launch. If the first launch took much
    // longer than a batch should, there is no warm-up, and the time of the first launch is used.
    auto launch_us = first_launch_us.value_or(0);
    if (launch_us < 10 * policy.batch_us) launch_us = time_batch(backend, testbed, kernel, 1).launch_us;
    Sampling sampling(policy, best_us);
    do {
        const auto [batch_us, each_us] = time_batch(backend, testbed, kernel, sampling.launches(launch_us));
        sampling.add(each_us, batch_us);
        launch_us = each_us;
    } while (!sampling.finished());
    auto result = sampling.result();
    result.clock_khz = backend.clock_khz();
    if (policy.energy && !result.cut_short) {
        result.energy_uj = energy_of(backend, testbed, kernel, sampling.launches(launch_us));
    }
    return result;
}

TrialReport try_candidate(Backend& backend, Testbed& testbed, const TrialInput& input, const SamplingPolicy& policy,
                          std::optional<double> best_us, std::optional<double> verified_best_us) {
    TrialReport report;
    auto begin = Clock::now();
    const auto lap_ms = [&] {
        const auto before = std::exchange(begin, Clock::now());
        return std::chrono::duration<double, std::milli>(begin - before).count();
    };
    try {
        const auto kernel = load(backend, input);
        testbed.use(input.parameters);
        const auto first = testbed.verify_first_check(kernel);
        report.verify_ms = lap_ms();
        if (first.wrong) {
            report.outcome = Rejection{Stage::wrong, *first.wrong};
            return report;
        }
        auto first_launch_us = first.first_launch_us;
        if (is_hopeless(policy, best_us, first_launch_us) && first_launch_us < pruning::surely_slow * *best_us) {
            first_launch_us = std::min(first_launch_us, time_batch(backend, testbed, kernel, 1).launch_us);
        }
        if (is_hopeless(policy, best_us, first_launch_us)) {
            auto measured = measurement_of({first_launch_us});
            measured.cut_short = true;
            report.outcome = std::move(measured);
            return report;
        }
        const auto measured = time_kernel(backend, testbed, kernel, policy, best_us, first_launch_us);
        report.outcome = measured;
        report.time_ms = lap_ms();
        if (!is_new_best(policy, verified_best_us, measured)) return report;
        // The first check is run again, because the kernel may be right only for its first few launches.
        const auto all = testbed.verify(kernel);
        report.verify_ms += lap_ms();
        report.verified = !all.wrong;
        if (all.wrong) report.outcome = Rejection{Stage::wrong, *all.wrong};
    } catch (const LaunchError& error) {
        report.outcome = Rejection{Stage::launch, error.what()};
    }
    return report;
}

TrialReport verify_candidate(Backend& backend, Testbed& testbed, const TrialInput& input,
                             const SamplingPolicy& policy) {
    TrialReport report;
    const auto begin = Clock::now();
    try {
        const auto kernel = load(backend, input);
        testbed.use(input.parameters);
        const auto verdict = testbed.verify(kernel);
        auto wrong = verdict.wrong;
        Sampling sampling(policy);
        if (!wrong) {
            launch_often(backend, testbed, kernel, verdict.first_launch_us);
            const auto batch = testbed.verify_batch(kernel, sampling.launches(verdict.first_launch_us));
            sampling.add(batch.batch_us / batch.launches, batch.batch_us);
            wrong = batch.wrong;
        }
        report.verified = !wrong;
        if (wrong) {
            report.outcome = Rejection{Stage::wrong, *wrong};
        } else {
            report.outcome = sampling.result();
        }
    } catch (const LaunchError& error) {
        report.outcome = Rejection{Stage::launch, error.what()};
    }
    report.verify_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return report;
}

std::vector<Measurement> play_final(Backend& backend, Testbed& testbed, const std::vector<TrialInput>& inputs,
                                    const SamplingPolicy& policy, int rounds) {
    std::vector<ConfiguredKernel> kernels;
    std::vector<double> launch_us;
    std::vector<Sampling> samplings(inputs.size(), Sampling(policy));
    for (const auto& input : inputs) {
        kernels.push_back(load(backend, input));
        testbed.use(input.parameters);
        launch_us.push_back(time_batch(backend, testbed, kernels.back(), 1).launch_us);
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            testbed.use(inputs[i].parameters);
            const auto [batch_us, each_us] =
                time_batch(backend, testbed, kernels[i], samplings[i].launches(launch_us[i]));
            samplings[i].add(each_us, batch_us);
            launch_us[i] = each_us;
        }
    }
    std::vector<Measurement> results;
    for (const auto& sampling : samplings) {
        results.push_back(sampling.result());
        results.back().clock_khz = backend.clock_khz();
    }
    for (std::size_t i = 0; policy.energy && i < inputs.size(); ++i) {
        testbed.use(inputs[i].parameters);
        results[i].energy_uj = energy_of(backend, testbed, kernels[i], samplings[i].launches(launch_us[i]));
    }
    return results;
}

}  // namespace smemtune
