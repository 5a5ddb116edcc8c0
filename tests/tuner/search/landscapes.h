// Spaces with a known optimum, to test searches.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace smemtune
