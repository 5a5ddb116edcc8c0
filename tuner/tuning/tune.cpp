#include "tuner/tuning/tune.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "templates/launch/estimate.h"
#include "templates/launch/limits.h"
#include "tuner/report/json.h"
#include "tuner/trial/operands.h"
#include "tuner/tuning/scheduler.h"
#include "util/parallel_for.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_hopeless = 1000;  // configurations of a template that break limits, recorded one by one

// For a search that learns, what the device can hold; run-time arguments stay at their defaults, to be swept at the
// end. When everything is tried, what only the device's limits remove is proposed as well: it costs nothing and is
// stored as rejected, with its reason. Unless there is a lot of it: then it is pruned like everything else, and only
// counted.
ParameterSpace space_to_search(const TuneRequest& request, const KernelTemplate& kernel, const Problem& problem,
                               const Device& device) {
    if (learns(request.search)) {
        auto fixed = kernel;
        for (auto& parameter : fixed.parameters) {
            if (parameter.runtime) parameter.values = {parameter.default_value};
        }
        return feasible_space(fixed, problem, device);
    }
    auto feasible = feasible_space(kernel, problem, device);
    std::uint64_t hopeless = 0;
    for (auto i = kernel.constraints.size(); i < feasible.census().size(); ++i) hopeless += feasible.census()[i].points;
    return hopeless > most_hopeless ? std::move(feasible) : declared_space(kernel, problem, device);
}

// A space's census goes on with the device's limits after the template's own rules.
void count_left_out(const PlannedSpace& planned, TuneReport& report) {
    const auto& kernel = *planned.kernel_template;
    const auto& census = planned.space->census();
    for (auto i = kernel.constraints.size(); i < census.size(); ++i) {
        if (census[i].points > 0) report.left_out[kernel.name + ": " + census[i].constraint.reason] += census[i].points;
    }
}

// Several at once: a space of millions takes a second.
void enumerate(const TuneRequest& request, const Device& device, std::vector<std::vector<PlannedSpace>>& spaces) {
    std::vector<std::pair<const Problem*, PlannedSpace*>> all;
    for (std::size_t i = 0; i < spaces.size(); ++i) {
        for (auto& planned : spaces[i]) all.emplace_back(&request.problems[i], &planned);
    }
    parallel_for(all.size(), request.jobs, [&](std::size_t i) {
        const auto& [problem, planned] = all[i];
        planned->space =
            std::make_shared<ParameterSpace>(space_to_search(request, *planned->kernel_template, *problem, device));
    });
}

}  // namespace

std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device) {
    std::vector<std::vector<PlannedSpace>> spaces;
    for (const auto& problem : request.problems) {
        auto& row = spaces.emplace_back();
        for (const auto& kernel : request.templates) {
            if (supports(kernel, problem, device)) row.push_back({.kernel_template = &kernel});
        }
        if (row.empty()) {
            std::string names;
            for (const auto& kernel : request.templates) {
                names += (names.empty() ? "" : ", ") + kernel.name + " (" +
                         why_unsupported(kernel, problem, device).value_or("") + ")";
            }
            throw std::invalid_argument("no template can compute " + to_text(problem) + " on " + device.name +
                                        "; looked at: " + names + "; see 'smemtune templates'");
        }
        must_fit(row.front().kernel_template->operation, problem, device);
        // A good candidate early lets the others be cut short.
        std::ranges::stable_sort(row, std::ranges::greater{}, [&](const PlannedSpace& planned) {
            const auto& kernel = *planned.kernel_template;
            return model_values(kernel, default_configuration(kernel), problem, device).operations_per_load();
        });
    }
    enumerate(request, device, spaces);
    return spaces;
}

TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
                Progress& progress) {
    const auto begin = Clock::now();
    TuneReport report{.device = tools.device,
                      .devices = tools.workers.size(),
                      .search = request.search == "auto" ? std::string(auto_search()) : request.search};
    for (const auto& row : spaces) {
        std::size_t valid = 0;
        for (const auto& planned : row) {
            valid += planned.space->size();
            count_left_out(planned, report);
        }
        report.planned += std::min(valid, request.evaluations.value_or(valid));
    }
    const nlohmann::json policy{
        {"checks", "whole output on every check of the operation; on the first only of what is clearly behind there"},
        {"operands", "rotate over twice the L2, in up to 64 sets"},
        {"batches", "one graph of launches between two events"},
        {"sampling", tools.sampling},
        {"finals", "rounds of one sample each, in turn"}};
    const nlohmann::json versions{{"smemtune", SMEMTUNE_VERSION},
                                  {"compiler", tools.compiler.version()},
                                  {"platform", platform_versions(tools.device)}};
    const auto run = tools.store.start_run({request.text, policy.dump(), versions.dump()});
    {
        Bell bell;
        CompilePool pool(tools.compiler, request.jobs, [&bell] { bell.ring(); });
        const TuningContext context{.request = request,
                                    .device = tools.device,
                                    .device_row = tools.store.remember(tools.device),
                                    .compiler = tools.compiler,
                                    .pool = pool,
                                    .store = tools.store,
                                    .run = run,
                                    .ahead = request.jobs + tools.workers.size(),
                                    .report = report,
                                    .progress = progress};
        Scheduler(context, spaces, tools, request.budget ? begin + *request.budget : Clock::time_point::max(), bell)
            .work();
    }
    report.seconds = seconds_since(begin);
    tools.store.finish_run(run, report.ended);
    return report;
}

}  // namespace smemtune
