#include "tuner/bench/bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "runtime/inspector.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

// Longer batches than a search's: what is one launch of milliseconds is a graph of several, whose enqueueing no one
// sees.
constexpr SamplingPolicy batches{.batch_us = 6000};

struct Side {
    const LoadedKernel& kernel;
    double launch_us = 0;

    // Microseconds of a batch.
    double take(Backend& backend, Testbed& testbed, int launches) {
        const auto [batch_us, each_us] = time_batch(backend, testbed, kernel, {}, launches);
        launch_us = each_us;
        return batch_us;
    }
    double take(Backend& backend, Testbed& testbed) {
        return take(backend, testbed, Sampling(batches, 0).launches(launch_us));
    }
};

class Bench {
public:
    Bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> peers)
        : request_(request),
          operation_(request.any_template.operation),
          runtime_(runtime),
          backend_(RuntimeInspector::backend(runtime)),
          peers_(peers) {
        backend_.make_current();
    }

    ProblemBench play(const Problem& problem) {
        ProblemBench result{.problem = problem};
        try {
            play(problem, result);
        } catch (const DeviceError& error) {
            result.why_not = error.what();  // out of memory, most likely: another problem may fit
        }
        return result;
    }

private:
    void play(const Problem& problem, ProblemBench& result) {
        const auto entry = stored_winner(runtime_, problem, request_.kernel_template);
        const auto* ours = std::get_if<CompetitorKernel>(&entry);
        if (ours == nullptr) return;
        result.stored = true;
        result.detail = ours->detail;
        result.operations =
            static_cast<double>(operation_.operations.evaluate(environment_of(operation_, problem, backend_.device())));
        Testbed testbed(backend_, operation_, problem, binaries_for(problem), request_.seed);
        try {
            result.wrong = testbed.verify(*ours->kernel, {}).wrong.value_or("");
        } catch (const LaunchError& error) {
            result.wrong = error.what();
        }
        if (!result.wrong.empty()) return;

        std::vector<std::pair<std::string, CompetitorKernel>> callers;
        for (const auto cache : request_.caches) {
            if (cache == Cache::warm && !testbed.rotates() && request_.caches.size() > 1) continue;
            if (request_.interrupted()) return;
            testbed.set_cache(cache);
            callers.clear();
            const auto alone = time_kernel(backend_, testbed, *ours->kernel, {}, batches, 0, 0);
            result.caches.push_back({.cache = cache, .ours = alone, .comparisons = {}});
            play(problem, *ours, testbed, result.caches.back(), callers);
        }
        if (!backend_.device().is_host() && !request_.interrupted()) {
            result.host = call(*ours, callers, testbed, result.caches.front().ours.median_us);
        }
    }

    void play(const Problem& problem, const CompetitorKernel& ours, Testbed& testbed, CacheResult& result,
              std::vector<std::pair<std::string, CompetitorKernel>>& callers) {
        for (const auto& peer : peers_) {
            if (request_.interrupted()) return;
            auto entry = peer->enter(operation_, problem, testbed);
            if (auto* theirs = std::get_if<CompetitorKernel>(&entry)) {
                result.comparisons.push_back(play(ours, *theirs, peer->name(), testbed));
                if (result.comparisons.back().why_not.empty()) callers.emplace_back(peer->name(), std::move(*theirs));
            } else {
                result.comparisons.push_back({.peer = peer->name(), .why_not = std::get<std::string>(entry)});
            }
        }
    }

    Comparison play(const CompetitorKernel& ours, const CompetitorKernel& theirs, const std::string& peer,
                    Testbed& testbed) {
        Comparison result{.peer = peer, .detail = theirs.detail};
        try {
            // On the first check alone, which is what is timed.
            constexpr double not_the_others = -1;
            const auto verdict = testbed.verify(*theirs.kernel, {}, not_the_others);
            result.why_not = verdict.wrong.value_or("");
            result.wrong = verdict.wrong.has_value();
            if (!result.wrong) {
                result.ratio =
                    compare(backend_, testbed, *ours.kernel, *theirs.kernel, request_.pairs, request_.interrupted);
                if (result.ratio.pairs < least_for_interval) result.why_not = "interrupted";
            }
        } catch (const LaunchError& error) {
            result.why_not = error.what();
        }
        return result;
    }

    std::vector<HostTime> call(const CompetitorKernel& ours,
                               const std::vector<std::pair<std::string, CompetitorKernel>>& callers, Testbed& testbed,
                               double launch_us) {
        const auto arguments = testbed.batch(*ours.kernel, {}, 1).front().arguments;
        std::vector<HostTime> times{{"ours"}, {"ours, fetched once"}};
        std::vector<std::function<void()>> calls{[&] { ours.call(arguments.data()); },
                                                 [&] { ours.kernel->launch(nullptr, {}, arguments.data()); }};
        for (const auto& each : callers) {
            times.push_back({each.first});
            calls.emplace_back([&each, &arguments] { each.second.call(arguments.data()); });
        }
        const auto us = host_times(
            calls, [&] { backend_.synchronize(); }, launch_us);
        for (std::size_t i = 0; i < us.size(); ++i) times[i].us = us[i];
        return times;
    }

    // They depend on the type and the layout alone.
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
    std::span<const std::unique_ptr<Competitor>> peers_;
    std::map<std::pair<std::string, std::string>, TestbedBinaries> binaries_;
};

}  // namespace

std::string_view to_text(Cache cache) { return cache == Cache::cold ? "cold" : "warm"; }

void bench(const BenchRequest& request, Runtime& runtime, std::span<const std::unique_ptr<Competitor>> peers,
           const std::function<void(ProblemBench)>& say) {
    Bench bench(request, runtime, peers);
    for (const auto& problem : request.problems) {
        if (request.interrupted()) return;
        say(bench.play(problem));
    }
}

Ratio compare(Backend& backend, Testbed& testbed, const LoadedKernel& ours, const LoadedKernel& theirs,
              const PairPolicy& policy, const std::function<bool()>& interrupted) {
    std::array sides{Side{ours}, Side{theirs}};
    for (auto& side : sides) {
        side.take(backend, testbed, 1);  // how many launches make a batch
        side.take(backend, testbed);
    }
    Pairs pairs(policy);
    // Who is first changes, so that whatever the first leaves to the second meets both alike.
    for (std::size_t turn = 0; !pairs.finished() && (turn == 0 || !interrupted()); ++turn) {
        Pair pair;
        double total_us = 0;
        for (const auto which : {turn % 2, 1 - turn % 2}) {
            auto& side = sides.at(which);
            total_us += side.take(backend, testbed);
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
    // Far from the thousand launches or so that a stream's queue holds, and not much work to wait for.
    const auto each = static_cast<int>(std::clamp(20'000 / std::max(launch_us, 1.0), 1.0, 50.0));
    std::vector<std::vector<double>> samples(calls.size());
    for (int burst = 0; burst <= bursts; ++burst) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            wait();
            const auto begin = Clock::now();
            for (int k = 0; k < each; ++k) calls[i]();
            const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
            if (burst > 0) samples[i].push_back(took.count() / each);  // the first warms up
        }
    }
    wait();
    std::vector<double> medians;
    medians.reserve(samples.size());
    for (const auto& each_call : samples) medians.push_back(quantile(each_call, 0.5));
    return medians;
}

}  // namespace smemtune
