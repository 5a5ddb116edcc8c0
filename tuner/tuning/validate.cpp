#include "tuner/tuning/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "db/store.h"
#include "runtime/compiler.h"
#include "tuner/finals/paired_elimination.h"
#include "tuner/report/json.h"
#include "tuner/report/progress.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"
#include "tuner/trial/sampling.h"
#include "tuner/worker/worker.h"
#include "util/statistics.h"
#include "util/stopwatch.h"
#include "util/temporary_folder.h"

namespace smemtune {

namespace {

constexpr int paired_rounds = 24;

Winner& winner_of(Validation& validation, const std::string& kernel_template, const Configuration& configuration) {
    const auto found = std::ranges::find_if(validation.winners, [&](const Winner& winner) {
        return winner.kernel_template == kernel_template && winner.configuration == configuration;
    });
    if (found != validation.winners.end()) return *found;
    return validation.winners.emplace_back(Winner{.kernel_template = kernel_template, .configuration = configuration});
}

// Sets `behind` of each winner: its time divided by the time of winner number `reference`, minus 1. The ratio is the
// median over pairs of samples.
void compare_with(std::size_t reference, Validation& validation, const std::vector<Measurement>& measured) {
    for (std::size_t i = 0; i < measured.size(); ++i) {
        std::vector<double> ratios;
        std::ranges::transform(measured[i].samples_us, measured[reference].samples_us, std::back_inserter(ratios),
                               std::divides{});
        validation.winners[i].behind = median(ratios) - 1;
    }
}

// Times the winners alternately.
void time_in_turn(Validation& validation, const std::vector<PlannedSpace>& spaces, const TuneResources& resources) {
    std::vector<TrialInput> inputs;
    const KernelTemplate* any = nullptr;
    for (auto& winner : validation.winners) {
        const auto planned = std::ranges::find(spaces, winner.kernel_template,
                                               [](const PlannedSpace& space) { return space.kernel_template->name; });
        any = planned->kernel_template;
        winner.defaults = default_configuration(*any);
        const auto compiled = resources.compiler.compile(program_of(*any, winner.configuration, validation.problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
            throw CompilerError("the winner " + winner.kernel_template + " " + to_text(winner.configuration) +
                                " does not compile any more: " + rejection->reason);
        }
        inputs.push_back(
            trial_input(*any, winner.configuration, validation.problem, resources.device, std::get<Binary>(compiled)));
    }
    if (inputs.empty()) return;
    auto& worker = *resources.workers.front();
    worker.release();
    worker.select(validation.problem, any->files, compile_testbed(resources.compiler, *any, validation.problem));
    const auto measured = worker.final_round(inputs, paired_rounds);
    worker.release();
    if (!measured)
        throw WorkerError("the worker was lost while it timed the winners of " + to_text(validation.problem));
    for (std::size_t i = 0; i < inputs.size(); ++i) validation.winners[i].us = (*measured)[i].median_us;
    const auto fastest = static_cast<std::size_t>(std::ranges::min_element(validation.winners, {}, &Winner::us) -
                                                  validation.winners.begin());
    compare_with(fastest, validation, *measured);
    // The winner that is the fastest by the ratios may differ from the one that is the fastest by the median times.
    const auto first = static_cast<std::size_t>(std::ranges::min_element(validation.winners, {}, &Winner::behind) -
                                                validation.winners.begin());
    if (first != fastest) compare_with(first, validation, *measured);
    // All winners were compared with the fastest one. A negative `behind` means that the ratios contradict one another,
    // which is noise.
    for (auto& winner : validation.winners) winner.behind = std::max(0.0, winner.behind);
    std::ranges::stable_sort(validation.winners, {}, &Winner::behind);
}

}  // namespace

double Validation::worst() const {
    double worst = 0;
    for (const auto& winner : winners) {
        if (!winner.seeds.empty()) worst = std::max(worst, winner.behind);
    }
    return worst;
}

std::size_t Validation::within(double margin) const {
    std::size_t count = 0;
    for (const auto& winner : winners) count += winner.behind <= margin ? winner.seeds.size() : 0;
    return count;
}

ValidationReport validate(TuneRequest request, const std::vector<std::vector<PlannedSpace>>& spaces,
                          const TuneResources& resources, std::size_t seeds, Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    ValidationReport report{.device = resources.device, .seeds = seeds};
    for (const auto& problem : request.problems) report.problems.push_back({.problem = problem});
    const TemporaryFolder scratch;
    request.retune = false;
    for (std::size_t i = 0; i < seeds && !resources.interrupted; ++i) {
        ++request.seed;
        const auto part = fmt::format("run {} of {}", i + 1, seeds);
        progress.begin_part(part);
        progress.say(fmt::format("{}, with seed {}", part, request.seed));
        Store store(scratch.path() / (std::to_string(request.seed) + ".db"));
        const TuneResources own{resources.device,  resources.compiler, store,
                                resources.workers, resources.sampling, resources.interrupted};
        const auto tuned = tune(request, spaces, own, progress);
        for (std::size_t each = 0; each < tuned.problems.size(); ++each) {
            const auto& best = tuned.problems[each].best;
            if (!best || tuned.ended == "interrupted") continue;
            ++report.problems[each].runs;
            winner_of(report.problems[each], best->kernel_template, best->configuration).seeds.push_back(request.seed);
        }
    }
    const auto device_row = resources.store.find(resources.device);
    for (std::size_t each = 0; each < report.problems.size() && !resources.interrupted; ++each) {
        auto& validation = report.problems[each];
        const auto problem_row = resources.store.find(validation.problem);
        const auto stored = device_row && problem_row ? resources.store.best(*device_row, *problem_row) : std::nullopt;
        const auto is_current = [&](const PlannedSpace& space) {
            return stored && space.kernel_template->name == stored->kernel_template &&
                   space.kernel_template->is_same_code(stored->template_hash);
        };
        if (std::ranges::any_of(spaces[each], is_current)) {
            winner_of(validation, stored->kernel_template, stored->record.configuration).stored = true;
        }
        progress.say(fmt::format("timing {} winner{} of {} in turn", validation.winners.size(),
                                 validation.winners.size() == 1 ? "" : "s", to_text(validation.problem)));
        time_in_turn(validation, spaces[each], resources);
    }
    report.interrupted = resources.interrupted;
    report.seconds = seconds_since(begin);
    return report;
}

std::string to_text(const ValidationReport& report, std::size_t width) {
    Table table({{"problem"}, {"winner"}, {"time"}, {"behind"}, {"found by"}, {"stored"}}, "differs from default");
    std::string summary;
    for (const auto& validation : report.problems) {
        for (const auto& winner : validation.winners) {
            table.add({to_text(validation.problem), winner.kernel_template, time_text(winner.us),
                       fmt::format("{:.2f} %", 100 * winner.behind),
                       fmt::format("{} of {}", counted(winner.seeds.size(), "run"), validation.runs),
                       winner.stored ? "yes" : ""},
                      differences_text(winner.configuration, winner.defaults));
        }
        if (validation.runs == 0) continue;
        summary += folded(fmt::format("{}: {} of {} found a winner within 1 % of the fastest; the worst is {:.2f} % "
                                      "behind",
                                      to_text(validation.problem), validation.within(0.01),
                                      counted(validation.runs, "run"), 100 * validation.worst()),
                          width, 0, 2);
    }
    return table.to_text(width) + "\n" + summary;
}

nlohmann::json to_json(const ValidationReport& report) {
    auto problems = nlohmann::json::array();
    for (const auto& validation : report.problems) {
        auto winners = nlohmann::json::array();
        for (const auto& winner : validation.winners) {
            winners.push_back({{"template", winner.kernel_template},
                               {"configuration", winner.configuration},
                               {"defaults", winner.defaults},
                               {"seeds", winner.seeds},
                               {"stored", winner.stored},
                               {"us", winner.us},
                               {"behind", winner.behind}});
        }
        problems.push_back({{"problem", validation.problem},
                            {"winners", winners},
                            {"runs", validation.runs},
                            {"within_one_percent", validation.within(0.01)},
                            {"worst", validation.worst()}});
    }
    return {{"device", report.device},
            {"seeds", report.seeds},
            {"interrupted", report.interrupted},
            {"seconds", report.seconds},
            {"problems", problems}};
}

}  // namespace smemtune
