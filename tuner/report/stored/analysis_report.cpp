#include "tuner/report/stored/analysis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "templates/space/value.h"
#include "tuner/report/json.h"
#include "tuner/report/stored/bars.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

using nlohmann::json;
using Verdict = SpeedChange::Verdict;

constexpr std::size_t bar_width = 20;
constexpr std::size_t sparkline_width = 24;
constexpr std::size_t most_pairs_printed = 3;
constexpr std::array<double, 3> shares_of_convergence{0.1, 0.05, 0.01};

const char* verdict_text(Verdict verdict) {
    return verdict == Verdict::faster ? "faster" : verdict == Verdict::slower ? "slower" : "equal within noise";
}

double time_of(const TrialRow& row) { return std::get<Measurement>(row.record.outcome).median_us; }

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

json winner_json(const std::optional<TrialRow>& row) {
    if (!row) return nullptr;
    json value{{"trial", row->id},
               {"template", row->kernel_template},
               {"configuration", row->record.configuration},
               {"median_us", time_of(*row)}};
    if (const auto interval = median_interval(std::get<Measurement>(row->record.outcome)))
        value["interval_us"] = *interval;
    return value;
}

// Says how often each verdict occurs, and what the geometric mean of the ratios is.
std::string comparison_summary(std::span<const WinnerPair> pairs, const std::string& first, const std::string& second) {
    std::array<std::size_t, 3> counts{};
    double logarithms = 0;
    std::size_t compared = 0;
    std::size_t only_first = 0;
    for (const auto& pair : pairs) {
        if (const auto change = speed_change(pair)) {
            ++counts.at(static_cast<std::size_t>(change->verdict));
            logarithms += std::log(change->ratio);
            ++compared;
        } else if (pair.first) {
            ++only_first;
        }
    }
    auto text = compared == 0 ? std::string("no device and problem has a winner in both\n")
                              : fmt::format(
                                    "{} in both: {} faster in {}, {} slower, {} equal within noise; geometric "
                                    "mean {:.3f}x\n",
                                    counted(compared, "winner"), counts[0], second, counts[1], counts[2],
                                    std::exp(logarithms / static_cast<double>(compared)));
    if (compared < pairs.size()) {
        text += fmt::format("{} only in {}, {} only in {}\n", only_first, first, pairs.size() - compared - only_first,
                            second);
    }
    return text;
}

// Returns the parameter's value with the shortest mean time.
const Importance::Level& best_level(const Importance::Parameter& parameter) {
    return *std::ranges::min_element(parameter.levels, {}, &Importance::Level::time);
}

json value_json(std::int64_t value) { return is_text_value(value) ? json(value_text(value)) : json(value); }

json group_json(const StoredImportance& group) {
    return {{"device_name", group.device}, {"template", group.kernel_template}, {"problem", group.problem}};
}

json problem_json(const Convergence& convergence) {
    return {{"device_name", convergence.device}, {"problem", convergence.problem}};
}

json step_json(const Convergence::Step& step) {
    return {
        {"evaluations", step.evaluations}, {"seconds", step.seconds}, {"best_us", step.best_us}, {"trial", step.trial}};
}

std::string group_text(const StoredImportance& group, std::size_t width) {
    const auto& found = group.importance;
    auto text = fmt::format("{}, {} on {}\n", group.kernel_template, to_text(group.problem), group.device);
    if (!found.too_little.empty()) return text + folded(found.too_little, width, 2, 2);
    text += folded(fmt::format("{}, {} rejected; {}; it explains {:.0f} % of the variance",
                               counted(found.measured, "measured configuration"), found.rejected, found.method,
                               100 * found.explained),
                   width, 2, 2);
    Table table({{"parameter"}, {"share"}, {"best value"}, {"", true}});
    for (const auto& parameter : found.parameters) {
        table.add({parameter.name, percent_text(parameter.share), value_text(best_level(parameter).value),
                   bar(parameter.share, bar_width)});
    }
    for (std::size_t i = 0; i < std::min(most_pairs_printed, found.pairs.size()); ++i) {
        const auto& pair = found.pairs[i];
        table.add({pair.first + " with " + pair.second, percent_text(pair.share), "-", bar(pair.share, bar_width)});
    }
    return text + table.to_text(width);
}

}  // namespace

std::string comparison_text(std::span<const WinnerPair> pairs, const std::string& first, const std::string& second,
                            std::size_t width) {
    Table table({{"device", true}, {"problem"}, {first}, {second}, {"ratio"}, {"95 %", true}, {"verdict"}});
    for (const auto& pair : pairs) {
        const auto change = speed_change(pair);
        const auto time = [](const auto& row) { return row ? time_text(time_of(*row)) : "-"; };
        table.add({pair.device, to_text(pair.problem), time(pair.first), time(pair.second),
                   change ? fmt::format("{:.3f}", change->ratio) : "-",
                   change ? fmt::format("{:.3f}..{:.3f}", change->low, change->high) : "-",
                   change        ? verdict_text(change->verdict)
                   : pair.second ? "only in " + second
                                 : "only in " + first});
    }
    return (pairs.empty() ? "" : table.to_text(width)) + comparison_summary(pairs, first, second);
}

json comparison_json(std::span<const WinnerPair> pairs) {
    auto list = json::array();
    for (const auto& pair : pairs) {
        json value{{"device_name", pair.device},
                   {"problem", pair.problem},
                   {"first", winner_json(pair.first)},
                   {"second", winner_json(pair.second)}};
        if (const auto change = speed_change(pair)) {
            value["ratio"] = change->ratio;
            value["interval"] = {change->low, change->high};
            value["verdict"] = verdict_text(change->verdict);
        }
        list.push_back(std::move(value));
    }
    return list;
}

std::string importance_text(std::span<const StoredImportance> groups, std::size_t width) {
    std::string text;
    for (const auto& group : groups) text += (text.empty() ? "" : "\n") + group_text(group, width);
    return text;
}

json importance_json(std::span<const StoredImportance> groups) {
    auto list = json::array();
    for (const auto& group : groups) {
        const auto& found = group.importance;
        auto value = group_json(group);
        value["measured"] = found.measured;
        value["rejected"] = found.rejected;
        if (!found.too_little.empty()) {
            value["too_little"] = found.too_little;
            list.push_back(std::move(value));
            continue;
        }
        value["method"] = found.method;
        value["exact"] = found.exact;
        value["explained"] = found.explained;
        value["parameters"] = json::array();
        for (const auto& parameter : found.parameters) {
            auto levels = json::array();
            for (const auto& level : parameter.levels)
                levels.push_back(
                    {{"value", value_json(level.value)}, {"mean_us", level.time}, {"measured", level.measured}});
            value["parameters"].push_back(
                {{"name", parameter.name}, {"share", parameter.share}, {"levels", std::move(levels)}});
        }
        value["pairs"] = json::array();
        for (const auto& pair : found.pairs)
            value["pairs"].push_back({{"first", pair.first}, {"second", pair.second}, {"share", pair.share}});
        list.push_back(std::move(value));
    }
    return list;
}

json importance_rows(std::span<const StoredImportance> groups) {
    auto rows = json::array();
    for (const auto& group : groups) {
        for (const auto& parameter : group.importance.parameters) {
            auto row = group_json(group);
            row["parameter"] = parameter.name;
            row["share"] = parameter.share;
            row["best_value"] = value_json(best_level(parameter).value);
            row["explained"] = group.importance.explained;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::string convergence_text(std::span<const Convergence> problems, std::size_t width) {
    Table table({{"device", true},
                 {"problem"},
                 {"trials"},
                 {"time", true},
                 {"best"},
                 {"within 10 %"},
                 {"5 %"},
                 {"1 %"},
                 {"best after"},
                 {"speed / best speed, over trials", true}});
    for (const auto& each : problems) {
        std::vector<std::string> cells{each.device, to_text(each.problem), count_text(each.evaluations),
                                       duration_text(each.seconds), time_text(each.steps.back().best_us)};
        for (const auto share : shares_of_convergence)
            cells.push_back(fmt::format("{} / {:.1f} s", each.within(share).evaluations, each.within(share).seconds));
        cells.push_back(fmt::format("{} / {:.1f} s", each.steps.back().evaluations, each.steps.back().seconds));
        cells.push_back(sparkline(each.speeds(sparkline_width)));
        table.add(std::move(cells));
    }
    return table.to_text(width);
}

json convergence_json(std::span<const Convergence> problems) {
    auto list = json::array();
    for (const auto& each : problems) {
        auto value = problem_json(each);
        value["evaluations"] = each.evaluations;
        value["seconds"] = each.seconds;
        value["steps"] = json::array();
        for (const auto& step : each.steps) value["steps"].push_back(step_json(step));
        list.push_back(std::move(value));
    }
    return list;
}

json convergence_rows(std::span<const Convergence> problems) {
    auto rows = json::array();
    for (const auto& each : problems) {
        for (const auto& step : each.steps) {
            auto row = problem_json(each);
            row.update(step_json(step));
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

}  // namespace smemtune
