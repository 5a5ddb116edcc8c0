#include "tuner/report/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

double flops(const ProblemResult& result) {
    return result.best ? result.operations / (result.best->measurement.median_us * 1e-6) : 0;
}

// `more` is the command that shows the others.
template <class Count>
std::string first_of(const std::map<std::string, Count>& reasons, const char* more) {
    constexpr std::size_t most = 5;
    std::string text;
    std::size_t shown = 0;
    for (const auto& [reason, count] : reasons) {
        if (shown++ == most) return text + fmt::format("  ... more with '{}'\n", more);
        text += fmt::format("  {} x {}\n", count, reason);
    }
    return text;
}

// What each size took, and why it took no more.
std::string effort_table(const TuneReport& report) {
    const auto seconds = [](double value) { return fmt::format("{:.2f} s", value); };
    std::vector<std::vector<std::string>> rows{
        {"problem", "tried", "of", "ended", "compile", "verify", "time", "finals", "wait", "wall"}};
    for (const auto& result : report.problems) {
        const auto& effort = result.effort;
        rows.push_back({to_text(result.problem), std::to_string(result.evaluations), std::to_string(result.valid),
                        result.ended, seconds(effort.compile), seconds(effort.verify), seconds(effort.time),
                        seconds(effort.finals), seconds(effort.wait), seconds(effort.total)});
    }
    return table(rows);
}

// What each worker did with its time. What is missing to the run's is spent on the way between coordinator and worker.
std::string worker_table(const TuneReport& report) {
    const auto seconds = [](double value) { return fmt::format("{:.2f} s", value); };
    std::vector<std::vector<std::string>> rows{
        {"device", "start", "layout", "trials", "finals", "for compiler", "idle", "rest"}};
    for (const auto& time : report.workers) {
        const auto known = time.start + time.layout + time.trials + time.finals + time.compiler + time.idle;
        rows.push_back({time.device, seconds(time.start), seconds(time.layout), seconds(time.trials),
                        seconds(time.finals), seconds(time.compiler), seconds(time.idle),
                        seconds(std::max(0.0, report.seconds - known))});
    }
    return rows.size() == 1 ? std::string() : "\n" + table(rows);
}

}  // namespace

std::string to_text(const TuneReport& report) {
    const auto peak = peak_fp32_flops(report.device);
    std::vector<std::vector<std::string>> rows{
        {"problem", "winner", "configuration", "time", "FLOP/s", "of peak", "x baseline"}};
    for (const auto& result : report.problems) {
        if (!result.best) {
            rows.push_back({to_text(result.problem), "none was right", "", "", "", "", ""});
            continue;
        }
        const auto& best = *result.best;
        rows.push_back(
            {to_text(result.problem), best.kernel_template, to_text(best.configuration),
             time_text(best.measurement.median_us), result.operations > 0 ? rate_text(flops(result)) : "-",
             peak > 0 && result.operations > 0 ? fmt::format("{:.1f} %", 100 * flops(result) / peak) : "-",
             result.baseline_us ? fmt::format("{:.2f}", *result.baseline_us / best.measurement.median_us) : "-"});
    }
    std::size_t rejected = 0;
    std::string stages;
    for (const auto& [stage, count] : report.rejected) {
        rejected += count;
        stages += fmt::format("{}{} {}", stages.empty() ? ": " : ", ", count, to_text(stage));
    }
    auto text =
        report.problems.empty() ? std::string() : table(rows) + "\n" + effort_table(report) + worker_table(report);
    text +=
        fmt::format("\n{} configurations: {} known before, {} measured, {} rejected{}; {:.1f} s, search {}\n",
                    report.planned, report.recalled, report.measured, rejected, stages, report.seconds, report.search);
    text += first_of(report.reasons, "smemtune db trials --rejected");
    if (!report.left_out.empty()) {
        text += "left out beforehand, for the device's limits\n" + first_of(report.left_out, "smemtune templates NAME");
    }
    return text;
}

nlohmann::json to_json(const Effort& effort) {
    return {{"compile_seconds", effort.compile}, {"verify_seconds", effort.verify}, {"time_seconds", effort.time},
            {"finals_seconds", effort.finals},   {"wait_seconds", effort.wait},     {"seconds", effort.total}};
}

nlohmann::json to_json(const WorkerTime& time) {
    return {{"device", time.device},         {"start_seconds", time.start},   {"layout_seconds", time.layout},
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
        if (result.best) {
            const auto& best = *result.best;
            problem["winner"] = {{"template", best.kernel_template},
                                 {"configuration", best.configuration.values},
                                 {"measurement", best.measurement},
                                 {"resources", best.resources}};
            if (result.operations > 0) problem["flops"] = flops(result);
            if (result.baseline_us) problem["times_baseline"] = *result.baseline_us / best.measurement.median_us;
        }
        problems.push_back(std::move(problem));
    }
    nlohmann::json rejected = nlohmann::json::object();
    for (const auto& [stage, count] : report.rejected) rejected[std::string(to_text(stage))] = count;
    return {{"device", report.device},       {"devices", report.devices},   {"search", report.search},
            {"database", database.string()}, {"ended", report.ended},       {"seconds", report.seconds},
            {"planned", report.planned},     {"recalled", report.recalled}, {"measured", report.measured},
            {"same_code", report.same_code}, {"rejected", rejected},        {"reasons", report.reasons},
            {"left_out", report.left_out},   {"problems", problems},        {"workers", workers}};
}

}  // namespace smemtune
