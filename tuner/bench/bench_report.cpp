#include "tuner/bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

using Defaults = std::map<std::string, Configuration>;

// Returns the text of a table, or an empty text if it has no rows.
std::string table_or_nothing(const Table& table, std::size_t width) {
    return table.empty() ? "" : "\n" + table.to_text(width);
}

// Adds one row for each competitor. Without competitors, adds one row for our time.
void add_rows(Table& table, const ProblemBench& problem, const CacheResult& result) {
    const auto add = [&](double ours_us, std::vector<std::string> rest, const std::string& remark = {}) {
        const auto& operations = problem.operations;
        rest.insert(rest.begin(), {to_text(problem.problem), std::string(to_text(result.cache)), time_text(ours_us)});
        rest.push_back(operations > 0 ? rate_text(operations / ours_us * 1e6) : "-");
        table.add(std::move(rest), remark);
    };
    for (const auto& each : result.comparisons) {
        const auto& ratio = each.ratio;
        if (!each.why_not.empty()) {
            add(result.ours.median_us, {each.competitor, "-", "-", "-", "-", "-"},
                (each.wrong ? "WRONG: " : "not compared: ") + each.why_not);
            continue;
        }
        add(ratio.ours_us, {each.competitor, time_text(ratio.theirs_us), fmt::format("{:.3f}", ratio.median),
                            fmt::format("{:.3f}..{:.3f}", ratio.low, ratio.high), std::to_string(ratio.pairs),
                            std::to_string(ratio.dropped)});
    }
    if (result.comparisons.empty()) add(result.ours.median_us, {"-", "-", "-", "-", "-", "-"});
}

std::string ratio_table(const std::vector<ProblemBench>& problems, std::size_t width) {
    Table table({{"problem"},
                 {"cache"},
                 {"ours"},
                 {"against"},
                 {"theirs"},
                 {"ratio"},
                 {"95 % interval"},
                 {"pairs", true},
                 {"dropped", true},
                 {"FLOP/s", true}},
                "remark");
    for (const auto& problem : problems) {
        for (const auto& result : problem.caches) add_rows(table, problem, result);
    }
    return table_or_nothing(table, width);
}

std::string kernel_text(const KernelDescription& kernel, const Defaults& defaults) {
    if (!kernel.configuration) return kernel.name;
    const auto known = defaults.find(kernel.name);
    const auto values = known == defaults.end() ? to_text(*kernel.configuration)
                                                : differences_text(*kernel.configuration, known->second);
    return values.empty() ? kernel.name : kernel.name + " " + values;
}

std::string kernel_table(const BenchReport& report, std::size_t width) {
    Table table({{"problem"}, {"who"}}, "kernel, with its parameters that differ from the template's defaults");
    // The previous row. An equal row is left out, because a kernel is often the same with cold and warm caches.
    std::string last;
    const auto add = [&](const ProblemBench& problem, const std::string& who, const KernelDescription& kernel) {
        if (kernel.name.empty()) return;
        const auto text = kernel_text(kernel, report.defaults);
        const auto row = to_text(problem.problem) + who + text;
        if (row != last) table.add({to_text(problem.problem), who}, text);
        last = row;
    };
    for (const auto& problem : report.problems) {
        if (!problem.stored) continue;
        add(problem, "ours", problem.kernel);
        for (const auto& result : problem.caches) {
            for (const auto& each : result.comparisons) add(problem, each.competitor, each.kernel);
        }
    }
    return table_or_nothing(table, width);
}

std::string host_table(const std::vector<ProblemBench>& problems, std::size_t width) {
    Table table({{"problem"}, {"who"}, {"host time of a call"}});
    for (const auto& problem : problems) {
        for (const auto& [who, us] : problem.host) {
            table.add({to_text(problem.problem), who, fmt::format("{:.2f} us", us)});
        }
    }
    return table_or_nothing(table, width);
}

nlohmann::json json_of(const KernelDescription& kernel, const Defaults& defaults) {
    if (!kernel.configuration) return {{"algorithm", kernel.name}};
    nlohmann::json json{{"template", kernel.name}, {"configuration", *kernel.configuration}};
    if (const auto known = defaults.find(kernel.name); known != defaults.end()) json["defaults"] = known->second;
    return json;
}

nlohmann::json json_of(const Comparison& comparison, double operations, const Defaults& defaults) {
    if (!comparison.why_not.empty()) return {{"why_not", comparison.why_not}};
    const auto& ratio = comparison.ratio;
    nlohmann::json json{{"kernel", json_of(comparison.kernel, defaults)},
                        {"ratio", ratio.median},
                        {"interval", {ratio.low, ratio.high}},
                        {"ours_us", ratio.ours_us},
                        {"theirs_us", ratio.theirs_us},
                        {"pairs", ratio.pairs},
                        {"dropped", ratio.dropped}};
    if (ratio.clock_khz > 0) json["clock_khz"] = ratio.clock_khz;
    if (operations > 0) {
        json["ours_flops"] = operations / ratio.ours_us * 1e6;
        json["theirs_flops"] = operations / ratio.theirs_us * 1e6;
    }
    return json;
}

nlohmann::json json_of(const ProblemBench& bench, const Defaults& defaults) {
    nlohmann::json json{{"problem", bench.problem}, {"stored", bench.stored}};
    if (!bench.stored) return json;
    if (!bench.match.empty()) json["match"] = bench.match;
    json["kernel"] = json_of(bench.kernel, defaults);
    if (!bench.why_not.empty()) json["why_not"] = bench.why_not;
    if (!bench.wrong.empty()) {
        json["wrong"] = bench.wrong;
        return json;
    }
    auto& caches = json["caches"] = nlohmann::json::object();
    for (const auto& [cache, ours, comparisons] : bench.caches) {
        nlohmann::json result{{"median_us", ours.median_us}, {"spread_us", ours.spread_us}};
        if (bench.operations > 0) result["flops"] = bench.operations / ours.median_us * 1e6;
        auto& against = result["against"] = nlohmann::json::object();
        for (const auto& each : comparisons) against[each.competitor] = json_of(each, bench.operations, defaults);
        caches[std::string(to_text(cache))] = std::move(result);
    }
    auto& host = json["host_us"] = nlohmann::json::object();
    for (const auto& [who, us] : bench.host) host[who] = us;
    return json;
}

}  // namespace

std::vector<Overall> overall(const std::vector<ProblemBench>& problems) {
    std::vector<Overall> all;
    for (const auto& problem : problems) {
        for (const auto& result : problem.caches) {
            for (const auto& comparison : result.comparisons) {
                if (!comparison.why_not.empty()) continue;
                const auto same = [&](const Overall& each) {
                    return each.cache == result.cache && each.competitor == comparison.competitor;
                };
                auto found = std::ranges::find_if(all, same);
                if (found == all.end()) found = all.insert(all.end(), {result.cache, comparison.competitor});
                const auto& ratio = comparison.ratio;
                found->mean += std::log(ratio.median);
                ++found->problems;
                found->ahead += ratio.low > 1 ? 1 : 0;
                found->behind += ratio.high < 1 ? 1 : 0;
            }
        }
    }
    for (auto& each : all) each.mean = std::exp(each.mean / static_cast<double>(each.problems));
    std::ranges::stable_sort(all, {}, &Overall::cache);
    return all;
}

std::string to_text(const BenchReport& report, std::size_t width) {
    const auto& provenance = report.provenance;
    const auto& problems = report.problems;
    auto text = provenance.device.name + (provenance.platform.empty() ? "" : ", " + provenance.platform);
    for (const auto& [name, version] : provenance.competitors) {
        if (name != version) text += ", " + name + " " + version;
    }
    text = folded(text, width, 0, 2);
    if (provenance.tf32_override) {
        text += folded(
            "NVIDIA_TF32_OVERRIDE=1 is set: cublas and cublaslt may compute in TF32, which is wrong for f32 and "
            "is not timed; unset it to compare with them",
            width, 0, 2);
    }
    text += ratio_table(problems, width) + kernel_table(report, width) + host_table(problems, width);
    if (!report.complete) text += "\nincomplete: it ended before everything was measured\n";
    const auto means = overall(problems);
    if (!means.empty()) {
        text += "\n" + folded("ratio: their time / ours, the median over pairs of samples taken in turn", width, 0, 2);
    }
    for (const auto& [cache, competitor, mean, count, ahead, behind] : means) {
        text +=
            folded(fmt::format("geometric mean, {}, against {}: {:.3f} over {}: ahead at {}, behind at {}, level at {}",
                               to_text(cache), competitor, mean, counted(count, "problem"), ahead, behind,
                               count - ahead - behind),
                   width, 0, 2);
    }
    return text;
}

nlohmann::json to_json(const BenchReport& report) {
    const auto& from = report.provenance;
    nlohmann::json problems = nlohmann::json::array();
    for (const auto& problem : report.problems) problems.push_back(json_of(problem, report.defaults));
    nlohmann::json means = nlohmann::json::array();
    for (const auto& [cache, competitor, mean, count, ahead, behind] : overall(report.problems)) {
        means.push_back({{"cache", to_text(cache)},
                         {"against", competitor},
                         {"ratio", mean},
                         {"problems", count},
                         {"ahead", ahead},
                         {"behind", behind}});
    }
    nlohmann::json json{{"smemtune", from.version},
                        {"command_line", from.command_line},
                        {"date", from.date},
                        {"device", from.device},
                        {"compiler", from.compiler},
                        {"database", from.database},
                        {"against", from.competitors},
                        {"tf32_override", from.tf32_override},
                        {"policy",
                         {{"least_pairs", from.pairs.least},
                          {"most_pairs", from.pairs.most},
                          {"narrow", from.pairs.narrow},
                          {"sag", from.pairs.sag},
                          {"seed", from.seed}}},
                        {"complete", report.complete},
                        {"problems", problems},
                        {"geometric_means", means}};
    if (!from.commit.empty()) json["commit"] = from.commit;
    if (!from.platform.empty()) json["platform"] = from.platform;
    return json;
}

}  // namespace smemtune
