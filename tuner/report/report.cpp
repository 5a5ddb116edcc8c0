#include "tuner/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/cli/shell_text.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

double flops(const ProblemResult& result) {
    return result.best ? result.operations / (result.best->measurement.median_us * 1e-6) : 0;
}

std::string winner_table(const TuneReport& report, std::size_t width) {
    const auto peak = peak_fp32_flops(report.device);
    Table table({{"problem"}, {"winner"}, {"time"}, {"FLOP/s"}, {"of peak"}, {"x baseline"}}, "differs from default");
    for (const auto& result : report.problems) {
        if (!result.best) {
            table.add({to_text(result.problem), result.invalid.empty() ? "none was right" : "none is valid"});
            continue;
        }
        const auto& best = *result.best;
        const bool has_rate = result.operations > 0;
        table.add({to_text(result.problem), best.kernel_template + (result.unchecked ? " (NOT CHECKED)" : ""),
                   time_text(best.measurement.median_us), has_rate ? rate_text(flops(result)) : "-",
                   has_rate && peak > 0 ? fmt::format("{:.1f} %", 100 * flops(result) / peak) : "-",
                   result.baseline_us ? fmt::format("{:.2f}", *result.baseline_us / best.measurement.median_us) : "-"},
                  differences_text(best.configuration, best.defaults));
    }
    auto text = table.to_text(width);
    for (const auto& result : report.problems) {
        if (!result.invalid.empty()) text += "\n" + invalid_text(result, width);
    }
    if (std::ranges::any_of(report.problems, &ProblemResult::unchecked)) {
        text += "\n" + folded(
                           "NOT CHECKED: the operation has no reference (reference = \"none\" in its manifest), so "
                           "a wrong kernel may have won",
                           width);
    }
    return text;
}

std::string seconds_text(double seconds) { return fmt::format("{:.2f}", seconds); }

std::string search_table(const TuneReport& report, std::size_t width) {
    Table table({{"problem"}, {"tried"}, {"valid"}, {"ended"}, {"seconds"}});
    for (const auto& result : report.problems) {
        table.add({to_text(result.problem), count_text(result.evaluations), count_text(result.valid), result.ended,
                   seconds_text(result.effort.total)});
    }
    return "\nthe searches: valid configurations tried, and why each search ended\n" + table.to_text(width);
}

std::string effort_table(const TuneReport& report, std::size_t width) {
    Table table({{"problem"}, {"compile"}, {"verify"}, {"time"}, {"finals"}, {"wait"}});
    for (const auto& result : report.problems) {
        const auto& effort = result.effort;
        table.add({to_text(result.problem), seconds_text(effort.compile), seconds_text(effort.verify),
                   seconds_text(effort.time), seconds_text(effort.finals), seconds_text(effort.wait)});
    }
    return "\n" +
           folded(
               "where the time of each size went, in seconds: compile is the sum over all threads, the other columns "
               "are times of the workers, wait is the wait for the compiler",
               width) +
           table.to_text(width);
}

// The last column is the rest of the run's time, which goes to messages between the processes.
std::string worker_table(const TuneReport& report, std::size_t width) {
    if (report.workers.empty()) return "";
    Table table({{"device"}, {"start"}, {"prepare"}, {"trials"}, {"finals"}, {"compiler"}, {"idle"}, {"messages"}});
    for (const auto& time : report.workers) {
        const auto known = time.start + time.prepare + time.trials + time.finals + time.compiler + time.idle;
        table.add({time.device, seconds_text(time.start), seconds_text(time.prepare), seconds_text(time.trials),
                   seconds_text(time.finals), seconds_text(time.compiler), seconds_text(time.idle),
                   seconds_text(std::max(0.0, report.seconds - known))});
    }
    return "\n" +
           folded(
               "where the time of each worker went, in seconds: prepare is for operands and references, compiler is "
               "the wait for a compiler, idle is the wait for another worker",
               width) +
           table.to_text(width);
}

// Lists the first five reasons with their counts. `more` is the command that shows all of them.
template <class Count>
std::string first_of(const std::map<std::string, Count>& reasons, const std::string& more, std::size_t width) {
    constexpr std::size_t most = 5;
    std::string text;
    std::size_t shown = 0;
    for (const auto& [reason, count] : reasons) {
        if (shown++ == most) return text + fmt::format("  ... more with {}\n", more);
        text += folded(fmt::format("{} x {}", count_text(count), reason), width, 2, 6);
    }
    return text;
}

std::string count_lines(const TuneReport& report, std::size_t width, const std::filesystem::path& database) {
    std::size_t rejected = 0;
    std::string stages;
    for (const auto& [stage, count] : report.rejected) {
        rejected += count;
        stages += fmt::format("{}{} {}", stages.empty() ? ": " : ", ", count, to_text(stage));
    }
    auto text = folded(
        fmt::format("{}: {} known before, {} measured, {} rejected{}; {}, search {}",
                    counted(report.planned, "configuration"), count_text(report.recalled), count_text(report.measured),
                    count_text(rejected), stages, duration_text(report.seconds), report.search),
        width);
    if (report.verified_again > 0) {
        text += folded(count_text(report.verified_again) +
                           " verified again, with the times known before: the checks, the reference or the compiler "
                           "changed since, or it is not known what they were verified against",
                       width);
    }
    if (report.retried > 0) {
        text += folded(
            count_text(report.retried) + " tried again that crashed or ran past their deadline in an earlier run",
            width);
    }
    const auto rejected_trials = command_for(database, "db trials --rejected");
    text += first_of(report.reasons, rejected_trials, width);
    const auto has_winner = [](const ProblemResult& result) { return result.best.has_value(); };
    if (!report.recalled_reasons.empty() && !std::ranges::all_of(report.problems, has_winner)) {
        text += "rejected in earlier runs\n" + first_of(report.recalled_reasons, rejected_trials, width);
    }
    if (report.rejected.contains(Stage::crash) && !is_checked(report.device)) {
        text += folded(
            "to find the cause of a crash, run the same command with '--device host --checked': it reports accesses "
            "outside arrays, with line and thread",
            width);
    }
    if (!report.left_out.empty()) {
        text += "left out beforehand, for the device's limits\n" +
                first_of(report.left_out, "'smemtune templates NAME'", width);
    }
    return text;
}

}  // namespace

std::string invalid_text(const ProblemResult& result, std::size_t width) {
    std::string text;
    for (const auto& [kernel, why] : result.invalid) {
        text += folded(fmt::format("{} has no valid configuration for {}; its default is not valid, because {}", kernel,
                                   to_text(result.problem), why),
                       width);
    }
    return text;
}

std::string to_text(const TuneReport& report, const std::filesystem::path& database, std::size_t width) {
    std::string text;
    if (!report.problems.empty()) {
        text = winner_table(report, width) + search_table(report, width) + effort_table(report, width) +
               worker_table(report, width);
    }
    return text + "\n" + count_lines(report, width, database);
}

nlohmann::json to_json(const Effort& effort) {
    return {{"compile_seconds", effort.compile}, {"verify_seconds", effort.verify}, {"time_seconds", effort.time},
            {"finals_seconds", effort.finals},   {"wait_seconds", effort.wait},     {"seconds", effort.total}};
}

nlohmann::json to_json(const WorkerTime& time) {
    return {{"device_id", time.device},      {"start_seconds", time.start},   {"prepare_seconds", time.prepare},
            {"trials_seconds", time.trials}, {"finals_seconds", time.finals}, {"compiler_seconds", time.compiler},
            {"idle_seconds", time.idle}};
}

nlohmann::json to_json(const TuneReport& report, const std::filesystem::path& database) {
    nlohmann::json workers = nlohmann::json::array();
    for (const auto& time : report.workers) workers.push_back(to_json(time));
    nlohmann::json problems = nlohmann::json::array();
    for (const auto& result : report.problems) {
        nlohmann::json problem{{"problem", result.problem}, {"best_us_by_template", result.best_us},
                               {"valid", result.valid},     {"evaluations", result.evaluations},
                               {"ended", result.ended},     {"effort", to_json(result.effort)}};
        if (result.unchecked) problem["unchecked"] = true;
        if (!result.invalid.empty()) problem["invalid"] = result.invalid;
        if (result.best) {
            const auto& best = *result.best;
            problem["winner"] = {{"template", best.kernel_template},
                                 {"configuration", best.configuration},
                                 {"defaults", best.defaults},
                                 {"measurement", best.measurement},
                                 {"resources", best.resources}};
            if (result.operations > 0) problem["flops"] = flops(result);
            if (result.baseline_us) problem["times_baseline"] = *result.baseline_us / best.measurement.median_us;
        }
        problems.push_back(std::move(problem));
    }
    nlohmann::json rejected = nlohmann::json::object();
    for (const auto& [stage, count] : report.rejected) rejected[std::string(to_text(stage))] = count;
    return {{"device", report.device},
            {"device_count", report.devices},
            {"search", report.search},
            {"database", database.string()},
            {"ended", report.ended},
            {"seconds", report.seconds},
            {"planned", report.planned},
            {"recalled", report.recalled},
            {"measured", report.measured},
            {"same_code", report.same_code},
            {"verified_again", report.verified_again},
            {"retried", report.retried},
            {"unfinished", report.unfinished},
            {"unprepared", report.unprepared},
            {"rejected", rejected},
            {"reasons", report.reasons},
            {"recalled_reasons", report.recalled_reasons},
            {"left_out", report.left_out},
            {"problems", problems},
            {"workers", workers}};
}

}  // namespace smemtune
