// Spaces with a known optimum, to test searches.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/search/search.h"

namespace smemtune {

using CostFunction = std::function<std::optional<double>(const Configuration&)>;

/// Returns a space of four parameters, A to D, with 8 values each: 4096 points, or fewer if `rule` excludes some.
inline std::shared_ptr<const ParameterSpace> cube(const std::string& rule = "1") {
    std::vector<Parameter> parameters;
    for (const auto* name : {"A", "B", "C", "D"}) parameters.push_back({name, {1, 2, 3, 4, 5, 6, 7, 8}, 1, ""});
    return std::make_shared<ParameterSpace>(parameters, std::vector<Constraint>{{Expression(rule), "a rule"}},
                                            Environment{});
}

/// Returns a cost function. Its minimum is 1, where every parameter equals `at`.
inline CostFunction bowl(double at) {
    return [at](const Configuration& configuration) {
        double cost = 1;
        for (const auto& [name, value] : configuration.values) {
            cost += (static_cast<double>(value) - at) * (static_cast<double>(value) - at);
        }
        return std::optional(cost);
    };
}

/// Returns the number of evaluations until a cost is at most `enough`, or `limit` if no cost is that low.
inline int evaluations_to(Search& search, const CostFunction& landscape, double enough, int limit = 4096) {
    for (int count = 1; count < limit; ++count) {
        const auto configuration = search.next();
        if (!configuration) return limit;
        const auto cost = landscape(*configuration);
        search.observe(*configuration, cost);
        if (cost && *cost <= enough) return count;
    }
    return limit;
}

/// Returns every `stride`-th of the first `count` proposals as text. The text "6 1 8 3" means A=6, B=1, C=8, D=3. The
/// search learns the cost of a proposal after `awaited` further proposals.
inline std::vector<std::string> sampled_proposals(Search& search, const CostFunction& landscape, int count, int stride,
                                                  std::size_t awaited = 0) {
    std::vector<std::string> sampled;
    std::deque<Configuration> pending;
    for (int i = 1; i <= count; ++i) {
        auto configuration = search.next();
        if (!configuration) break;
        if (i % stride == 0) {
            auto& text = sampled.emplace_back();
            for (const auto& [name, value] : configuration->values) {
                text += (text.empty() ? "" : " ") + std::to_string(value);
            }
        }
        pending.push_back(std::move(*configuration));
        if (pending.size() <= awaited) continue;
        search.observe(pending.front(), landscape(pending.front()));
        pending.pop_front();
    }
    return sampled;
}

/// Returns a cost function without symmetries. It rejects about one configuration in seven, and its valley is curved.
inline CostFunction valley() {
    return [](const Configuration& configuration) -> std::optional<double> {
        const auto at = [&](const char* name) { return static_cast<double>(configuration.values.at(name)); };
        if (configuration.values.at("A") * 5 % 7 == configuration.values.at("B") * 3 % 7) return std::nullopt;
        const auto bend = at("B") - at("A") * at("A") / 9;
        const auto away = at("D") - at("C") / 2;
        return 2 + 0.4 * bend * bend + 0.7 * (at("C") - 3) * (at("C") - 3) + 0.3 * away * away;
    };
}

/// Returns a space of the parameters A to D with 100 points.
inline std::shared_ptr<const ParameterSpace> hundred() {
    return std::make_shared<ParameterSpace>(
        std::vector<Parameter>{
            {"A", {1, 2, 3, 5, 8}, 1, ""}, {"B", {1, 2, 3, 5, 8}, 1, ""}, {"C", {2, 6}, 2, ""}, {"D", {2, 6}, 2, ""}},
        std::vector<Constraint>{}, Environment{});
}

}  // namespace smemtune
