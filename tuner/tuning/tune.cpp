#include "tuner/tuning/tune.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "db/store.h"
#include "runtime/backend.h"
#include "tuner/report/json.h"
#include "tuner/search/search.h"
#include "tuner/tuning/event_count.h"
#include "tuner/tuning/scheduler.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

// Counts the configurations that exceed the device's limits. ParameterSpace::census() lists the template's own
// constraints first, and then the device's limits.
void count_left_out(const PlannedSpace& planned, TuneReport& report) {
    const auto& kernel = *planned.kernel_template;
    const auto& census = planned.space->census();
    for (auto i = kernel.constraints.size(); i < census.size(); ++i) {
        if (census[i].points > 0) report.left_out[kernel.name + ": " + census[i].constraint.reason] += census[i].points;
    }
}

}  // namespace

TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces,
                const TuneResources& resources, Progress& progress) {
    const auto begin = Clock::now();
    TuneReport report{.device = resources.device,
                      .devices = resources.workers.size(),
                      .search = request.search == "auto" ? std::string(auto_search()) : request.search};
    for (const auto& row : spaces) {
        std::size_t valid = 0;
        for (const auto& planned : row) {
            valid += planned.space->size();
            count_left_out(planned, report);
        }
        report.planned += std::min(valid, request.evaluations.value_or(valid));
    }
    const nlohmann::json policy{{"checks",
                                 "whole outputs; the first check for every candidate, all checks after timing for a "
                                 "candidate that may be the best of its template; for the winner's machine code, all "
                                 "checks again, and the outputs of a batch after up to 1000 launches"},
                                {"operands", "rotate over twice the L2, in up to 64 sets"},
                                {"batches", "one graph of launches between two events"},
                                {"sampling", resources.sampling},
                                {"finals", "rounds of one sample each, in turn"}};
    const auto compiler = resources.compiler.version();
    const auto platform = platform_versions(resources.device);
    const nlohmann::json versions{{"smemtune", SMEMTUNE_VERSION}, {"compiler", compiler}, {"platform", platform}};
    const auto run_row = resources.store.start_run({request.text, policy.dump(), versions.dump()});
    {
        EventCount events;
        CompilePool pool(resources.compiler, request.jobs, [&events] { events.notify(); });
        const TuneRun run{.request = request,
                          .resources = resources,
                          .device_row = resources.store.remember(resources.device),
                          .run_row = run_row,
                          .pool = pool,
                          .ahead = request.jobs + resources.workers.size(),
                          .report = report,
                          .progress = progress,
                          .toolchain = compiler + (platform.empty() ? "" : "; " + platform)};
        Scheduler(run, spaces, request.budget ? begin + *request.budget : Clock::time_point::max(), events).work();
    }
    report.seconds = seconds_since(begin);
    resources.store.finish_run(run_row, report.ended);
    return report;
}

}  // namespace smemtune
