#include "tuner/bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

using Rows = std::vector<std::vector<std::string>>;

// Without a row below its header, a table says nothing.
std::string table_or_nothing(const Rows& rows) { return rows.size() > 1 ? "\n" + table(rows) : ""; }

// One row for each competitor; without any, one for our time alone.
void add_rows(Rows& rows, const ProblemBench& problem, const CacheResult& result) {
    const auto add = [&](double ours_us, std::vector<std::string> rest) {
        const auto& operations = problem.operations;
        rest.insert(rest.begin(), {to_text(problem.problem), std::string(to_text(result.cache)), time_text(ours_us),
                                   operations > 0 ? rate_text(operations / ours_us * 1e6) : "-"});
        rows.push_back(std::move(rest));
    };
    for (const auto& [competitor, detail, why_not, wrong, ratio] : result.comparisons) {
        if (!why_not.empty()) {
            add(result.ours.median_us, {competitor, "-", "-", (wrong ? "WRONG: " : "") + why_not});
            continue;
        }
        add(ratio.ours_us, {competitor, time_text(ratio.theirs_us), fmt::format("{:.3f}", ratio.median),
                            fmt::format("{:.3f}..{:.3f}", ratio.low, ratio.high), std::to_string(ratio.pairs),
                            std::to_string(ratio.dropped)});
    }
    if (result.comparisons.empty()) add(result.ours.median_us, {"-", "-", "-", "-", "-", "-"});
}

std::string ratio_table(const std::vector<ProblemBench>& problems) {
    Rows rows{
        {"problem", "cache", "ours", "FLOP/s", "against", "theirs", "ratio", "95 % interval", "pairs", "dropped"}};
    for (const auto& problem : problems) {
        for (const auto& result : problem.caches) add_rows(rows, problem, result);
    }
    return table_or_nothing(rows);
}

std::string kernel_table(const std::vector<ProblemBench>& problems) {
    Rows rows{{"problem", "who", "what ran"}};
    for (const auto& problem : problems) {
        if (!problem.stored) continue;
        rows.push_back({to_text(problem.problem), "ours", problem.detail});
        for (const auto& result : problem.caches) {
            for (const auto& comparison : result.comparisons) {
                std::vector<std::string> row{to_text(problem.problem), comparison.competitor, comparison.detail};
                if (!comparison.detail.empty() && row != rows.back()) rows.push_back(std::move(row));
            }
        }
    }
    return table_or_nothing(rows);
}

std::string host_table(const std::vector<ProblemBench>& problems) {
    Rows rows{{"problem", "who", "host time of a call"}};
    for (const auto& problem : problems) {
        for (const auto& [who, us] : problem.host) {
            rows.push_back({to_text(problem.problem), who, fmt::format("{:.2f} us", us)});
        }
    }
    return table_or_nothing(rows);
}

nlohmann::json json_of(const Comparison& comparison, double operations) {
    if (!comparison.why_not.empty()) return {{"why_not", comparison.why_not}};
    const auto& ratio = comparison.ratio;
    nlohmann::json json{
        {"what", comparison.detail}, {"ratio", ratio.median},        {"interval", {ratio.low, ratio.high}},
        {"ours_us", ratio.ours_us},  {"theirs_us", ratio.theirs_us}, {"pairs", ratio.pairs},
        {"dropped", ratio.dropped},  {"clock_khz", ratio.clock_khz}};
    if (operations > 0) {
        json["ours_flops"] = operations / ratio.ours_us * 1e6;
        json["theirs_flops"] = operations / ratio.theirs_us * 1e6;
    }
    return json;
}

nlohmann::json json_of(const ProblemBench& bench) {
    nlohmann::json json{{"problem", bench.problem}, {"stored", bench.stored}};
    if (!bench.stored) return json;
    json["what"] = bench.detail;
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
        for (const auto& each : comparisons) against[each.competitor] = json_of(each, bench.operations);
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

std::string to_text(const BenchReport& report) {
    const auto& [provenance, problems, complete] = report;
    auto text = provenance.device.name + (provenance.platform.empty() ? "" : ", " + provenance.platform);
    for (const auto& [name, version] : provenance.competitors) {
        if (name != version) text += ", " + name + " " + version;
    }
    text += "\n" + ratio_table(problems) + kernel_table(problems) + host_table(problems);
    if (!complete) text += "\nincomplete: it ended before everything was measured\n";
    const auto means = overall(problems);
    if (!means.empty()) text += "\nratio: their time / ours, the median over pairs of samples taken in turn\n";
    for (const auto& [cache, competitor, mean, count, ahead, behind] : means) {
        text += fmt::format(
            "geometric mean, {}, against {}: {:.3f} over {} problem{}: ahead at {}, behind at {}, level at {}\n",
            to_text(cache), competitor, mean, count, count == 1 ? "" : "s", ahead, behind, count - ahead - behind);
    }
    return text;
}

nlohmann::json to_json(const BenchReport& report) {
    const auto& from = report.provenance;
    nlohmann::json problems = nlohmann::json::array();
    for (const auto& problem : report.problems) problems.push_back(json_of(problem));
    nlohmann::json means = nlohmann::json::array();
    for (const auto& [cache, competitor, mean, count, ahead, behind] : overall(report.problems)) {
        means.push_back({{"cache", to_text(cache)},
                         {"against", competitor},
                         {"ratio", mean},
                         {"problems", count},
                         {"ahead", ahead},
                         {"behind", behind}});
    }
    return {{"benchmark", "bench"},
            {"smemtune", from.version},
            {"commit", from.commit},
            {"date", from.date},
            {"device", from.device},
            {"platform", from.platform},
            {"compiler", from.compiler},
            {"database", from.database},
            {"against", from.competitors},
            {"policy",
             {{"least_pairs", from.pairs.least},
              {"most_pairs", from.pairs.most},
              {"narrow", from.pairs.narrow},
              {"sag", from.pairs.sag},
              {"seed", from.seed}}},
            {"complete", report.complete},
            {"problems", problems},
            {"geometric_means", means}};
}

}  // namespace smemtune
