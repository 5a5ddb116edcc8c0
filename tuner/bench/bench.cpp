#include "tuner/bench/bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <stdexcept>

#include "runtime/inspector.h"
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/trial.h"
#include "util/statistics.h"

namespace smemtune {

namespace {

// Batches are longer than in a search. Even a kernel that runs for milliseconds is then launched several times per
// batch. The launches of a batch form a CUDA graph, which hides the host's time per launch.
constexpr SamplingPolicy sampling_policy{.batch_us = 6000};

// One of the two kernels that are timed alternately.
struct Side {
    const BoundKernel& kernel;
    double launch_us = 0;

    // Times a batch of launches. Returns microseconds for the whole batch.
    double time_launches(Backend& backend, Testbed& testbed, int launches) {
        const auto time = time_batch(backend, testbed, kernel, launches);
        launch_us = time.launch_us;
        return time.batch_us;
    }
    double time_a_batch(Backend& backend, Testbed& testbed) {
        return time_launches(backend, testbed, Sampling(sampling_policy).launches(launch_us));
    }
};

// A competitor's kernel that was timed against ours.
struct ComparedKernel {
    std::string competitor;
    CompetitorKernel kernel;
};

std::string step_text(const Problem& problem, const KernelDescription& kernel) {
    return to_text(problem) + ": verifying or timing the kernel " + kernel.name;
}

class Bench {
public:
    Bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> competitors)
        : request_(request),
          operation_(request.any_template.operation),
          runtime_(runtime),
          backend_(RuntimeInspector::backend(runtime)),
          competitors_(competitors) {
        if (!operation_.parameters.empty()) {
            throw std::invalid_argument("bench compares kernels with the same outputs, but the outputs of " +
                                        operation_.name +
                                        " depend on parameters of the kernel; use 'smemtune run' to time the winner");
        }
        backend_.make_current();
    }

    ProblemBench run(const Problem& problem) {
        ProblemBench result{.problem = problem};
        try {
            measure(problem, result);
        } catch (const DeviceError& error) {
            result.why_not = error.what();  // the cause is usually too little memory, so smaller problems may fit
        }
        request_.begin_step("");
        return result;
    }

private:
    void measure(const Problem& problem, ProblemBench& result) {
        const auto winner = request_.served ? served_kernel(runtime_, problem, request_.kernel_template)
                                            : stored_winner(runtime_, problem, request_.kernel_template);
        const auto* ours = std::get_if<CompetitorKernel>(&winner);
        if (ours == nullptr) return;
        result.stored = true;
        result.kernel = ours->description;
        if (request_.served) result.match = ours->match;
        result.operations =
            static_cast<double>(operation_.operations.evaluate(environment_of(operation_, problem, backend_.device())));
        const auto& binaries = binaries_for(problem);
        request_.begin_step(preparation_text(operation_, problem));
        Testbed testbed(backend_, operation_, problem, binaries, request_.seed);
        request_.begin_step(step_text(problem, ours->description));
        try {
            result.wrong = testbed.verify(*ours->kernel).wrong.value_or("");
        } catch (const LaunchError& error) {
            result.wrong = error.what();
        }
        if (!result.wrong.empty()) return;

        std::vector<ComparedKernel> compared;
        for (const auto cache : request_.caches) {
            if (cache == Cache::warm && !testbed.rotates() && request_.caches.size() > 1) continue;
            if (request_.interrupted()) return;
            testbed.set_cache(cache);
            compared.clear();
            request_.begin_step(step_text(problem, ours->description));
            const auto alone = time_kernel(backend_, testbed, *ours->kernel, sampling_policy);
            result.caches.push_back({.cache = cache, .ours = alone, .comparisons = {}});
            compare_with_all(problem, *ours, testbed, result.caches.back(), compared);
        }
        if (!request_.served && !backend_.device().is_host() && !request_.interrupted()) {
            result.host = time_calls(*ours, compared, testbed, result.caches.front().ours.median_us);
        }
    }

    void compare_with_all(const Problem& problem, const CompetitorKernel& ours, Testbed& testbed, CacheResult& result,
                          std::vector<ComparedKernel>& compared) {
        for (const auto& competitor : competitors_) {
            if (request_.interrupted()) return;
            request_.begin_step(to_text(problem) + ": preparing the competitor " + competitor->name());
            auto prepared = competitor->prepare(operation_, problem, testbed);
            if (const auto* unavailable = std::get_if<Unavailable>(&prepared)) {
                result.comparisons.push_back({.competitor = competitor->name(), .why_not = unavailable->reason});
                continue;
            }
            auto& theirs = std::get<CompetitorKernel>(prepared);
            result.comparisons.push_back(compare_with(problem, theirs, ours, competitor->name(), testbed));
            if (result.comparisons.back().why_not.empty()) compared.push_back({competitor->name(), std::move(theirs)});
        }
    }

    Comparison compare_with(const Problem& problem, const CompetitorKernel& theirs, const CompetitorKernel& ours,
                            const std::string& competitor, Testbed& testbed) {
        Comparison result{.competitor = competitor, .kernel = theirs.description};
        const auto next_step = [&] { request_.begin_step(step_text(problem, theirs.description)); };
        try {
            next_step();
            // Verifies with the first check only, because only its operands have the same layout in memory as the
            // operands that are timed.
            const auto verdict = testbed.verify_first_check(*theirs.kernel);
            result.why_not = verdict.wrong.value_or("");
            result.wrong = verdict.wrong.has_value();
            if (!result.wrong) {
                result.ratio = compare(backend_, testbed, *ours.kernel, *theirs.kernel, request_.pairs, [&] {
                    next_step();  // the deadline is for each pair
                    return request_.interrupted();
                });
                if (result.ratio.pairs < least_for_interval) result.why_not = "interrupted";
            }
        } catch (const LaunchError& error) {
            result.why_not = error.what();
        }
        return result;
    }

    std::vector<HostTime> time_calls(const CompetitorKernel& ours, const std::vector<ComparedKernel>& compared,
                                     Testbed& testbed, double launch_us) {
        request_.begin_step("timing calls of " + ours.description.name);
        const auto arguments = testbed.batch(*ours.kernel, 1).front().arguments;
        std::vector<HostTime> times{{"ours"}, {"ours, fetched once"}};
        std::vector<std::function<void()>> calls{[&] { ours.call(arguments); },
                                                 [&] { ours.kernel->launch(nullptr, arguments); }};
        for (const auto& each : compared) {
            times.push_back({each.competitor});
            calls.emplace_back([&each, &arguments] { each.kernel.call(arguments); });
        }
        const auto us = host_times(
            calls, [&] { backend_.synchronize(); }, launch_us);
        for (std::size_t i = 0; i < us.size(); ++i) times[i].us = us[i];
        return times;
    }

    // Returns the testbed's machine code. It is compiled once for each element type and layout, because it does not
    // depend on the size.
    const TestbedBinaries& binaries_for(const Problem& problem) {
        const std::pair key(problem.type, problem.layout);
        auto known = binaries_.find(key);
        if (known == binaries_.end()) {
            const auto& compiler = RuntimeInspector::compiler(runtime_);
            known = binaries_.emplace(key, compile_testbed(compiler, request_.any_template, problem)).first;
        }
        return known->second;
    }

    const BenchRequest& request_;
    const Operation& operation_;
    Runtime& runtime_;
    Backend& backend_;
    std::span<const std::unique_ptr<Competitor>> competitors_;
    std::map<std::pair<std::string, std::string>, TestbedBinaries> binaries_;
};

}  // namespace

std::string_view to_text(Cache cache) { return cache == Cache::cold ? "cold" : "warm"; }

void bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> competitors,
           const std::function<void(ProblemBench)>& report) {
    Bench bench(request, runtime, competitors);
    for (const auto& problem : request.problems) {
        if (request.interrupted()) return;
        report(bench.run(problem));
    }
}

Ratio compare(Backend& backend, Testbed& testbed, const BoundKernel& ours, const BoundKernel& theirs,
              const PairPolicy& policy, const std::function<bool()>& interrupted) {
    std::array sides{Side{ours}, Side{theirs}};
    for (auto& side : sides) {
        side.time_launches(backend, testbed, 1);  // sets launch_us, which determines the next batch's size
        side.time_a_batch(backend, testbed);
    }
    Pairs pairs(policy);
    // The order alternates, AB BA AB ..., so that each kernel comes first equally often. The first kernel of a pair
    // affects the second one through clock and temperature.
    for (std::size_t turn = 0; !pairs.finished() && (turn == 0 || !interrupted()); ++turn) {
        Pair pair;
        double total_us = 0;
        for (const auto which : {turn % 2, 1 - turn % 2}) {
            auto& side = sides.at(which);
            total_us += side.time_a_batch(backend, testbed);
            (which == 0 ? pair.ours_us : pair.theirs_us) = side.launch_us;
            const auto clock = backend.clock_khz();
            pair.clock_khz = pair.clock_khz == 0 ? clock : std::min(pair.clock_khz, clock);
        }
        pairs.add(pair, total_us);
    }
    return pairs.result();
}

std::vector<double> host_times(const std::vector<std::function<void()>>& calls, const std::function<void()>& wait,
                               double launch_us) {
    using Clock = std::chrono::steady_clock;
    constexpr int bursts = 21;
    // The number of launches per burst. It is small, so that the wait between bursts is short and the stream's queue,
    // which holds about a thousand launches, does not fill.
    const auto each = static_cast<int>(std::clamp(20'000 / std::max(launch_us, 1.0), 1.0, 50.0));
    std::vector<std::vector<double>> samples(calls.size());
    for (int burst = 0; burst <= bursts; ++burst) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            wait();
            const auto begin = Clock::now();
            for (int k = 0; k < each; ++k) calls[i]();
            const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
            if (burst > 0) samples[i].push_back(took.count() / each);  // the first burst only warms up
        }
    }
    wait();
    std::vector<double> medians;
    medians.reserve(samples.size());
    for (const auto& each_call : samples) medians.push_back(median(each_call));
    return medians;
}

}  // namespace smemtune
