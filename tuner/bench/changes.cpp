#include "tuner/bench/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tuner/report/json.h"

namespace smemtune {

namespace {

// Smaller changes are noise. The time of one kernel differs by up to this share between two processes, because memory
// has different addresses in each process. The interval of a ratio does not cover this difference, because all its
// pairs are from one process. The finals use the same share to call finalists equal.
constexpr double least_change = 0.005;

std::string name_of(const Problem& problem, std::string_view cache, const std::string& competitor) {
    return fmt::format("{}, {}, {}", to_text(problem), cache, competitor);
}

double factor(const Change& change) { return change.now.ratio / change.before.ratio; }

}  // namespace

std::vector<Figure> figures_of(const std::vector<ProblemBench>& problems) {
    std::vector<Figure> figures;
    for (const auto& problem : problems) {
        for (const auto& result : problem.caches) {
            for (const auto& each : result.comparisons) {
                if (!each.why_not.empty()) continue;
                const auto& ratio = each.ratio;
                figures.push_back({name_of(problem.problem, to_text(result.cache), each.competitor), ratio.median,
                                   ratio.low, ratio.high});
            }
        }
    }
    return figures;
}

std::vector<Figure> figures_of(const nlohmann::json& report) {
    std::vector<Figure> figures;
    try {
        for (const auto& problem : report.at("problems")) {
            if (!problem.contains("caches")) continue;
            for (const auto& [cache, result] : problem.at("caches").items()) {
                for (const auto& [competitor, comparison] : result.at("against").items()) {
                    if (!comparison.contains("ratio")) continue;
                    const auto& interval = comparison.at("interval");
                    figures.push_back({name_of(problem.at("problem").get<Problem>(), cache, competitor),
                                       comparison.at("ratio").get<double>(), interval.at(0).get<double>(),
                                       interval.at(1).get<double>()});
                }
            }
        }
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument("it is not what 'smemtune bench --json' writes");
    }
    return figures;
}

Changes changes(const std::vector<Figure>& before, const std::vector<Figure>& now) {
    Changes result;
    for (const auto& old : before) {
        const auto found = std::ranges::find(now, old.name, &Figure::name);
        if (found == now.end()) {
            result.missing.push_back(old.name);
            continue;
        }
        ++result.compared;
        const Change change{old, *found};
        if (std::abs(factor(change) - 1) <= least_change) continue;
        if (found->high < old.low) result.fallen.push_back(change);
        if (found->low > old.high) result.risen.push_back(change);
    }
    std::ranges::sort(result.fallen, std::ranges::less{}, factor);
    std::ranges::sort(result.risen, std::ranges::greater{}, factor);
    return result;
}

std::string to_text(const Changes& changes) {
    const auto lines = [](const char* word, const std::vector<Change>& list) {
        std::string text;
        for (const auto& change : list) {
            const auto& [before, now] = change;
            text += fmt::format("  {} {:+.1f} %: {}: {:.3f} ({:.3f}..{:.3f}), was {:.3f} ({:.3f}..{:.3f})\n", word,
                                100 * (factor(change) - 1), now.name, now.ratio, now.low, now.high, before.ratio,
                                before.low, before.high);
        }
        return text;
    };
    auto text = fmt::format("{} ratios compared: {} fell and {} rose by more than noise\n", changes.compared,
                            changes.fallen.size(), changes.risen.size());
    text += lines("FELL", changes.fallen) + lines("rose", changes.risen);
    if (!changes.missing.empty()) {
        text += fmt::format("  {} earlier ratios were not measured now, such as {}\n", changes.missing.size(),
                            changes.missing.front());
    }
    return text;
}

}  // namespace smemtune
