// Caches the results of a setup's callbacks (features and estimate) for each point, because they may be slow.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/search.h"

namespace smemtune {

class FeatureCache {
public:
    explicit FeatureCache(SearchSetup setup) : setup_(std::move(setup)) {}

    [[nodiscard]] const ParameterSpace& space() const { return *setup_.space; }
    [[nodiscard]] bool has_estimate() const { return setup_.estimate != nullptr; }
    [[nodiscard]] bool has_any() const { return has_estimate() || setup_.features; }
    /// Precondition: has_estimate(). NaN becomes infinity, as in features().
    double estimate(std::size_t index);
    /// The reference is valid as long as this object. Empty if the setup has no features.
    const std::vector<double>& features(std::size_t index);

private:
    struct Answers {
        std::optional<double> estimate;
        std::optional<std::vector<double>> features;
    };

    SearchSetup setup_;
    std::unordered_map<std::size_t, Answers> answers_;  // a map whose elements do not move as it grows
};

}  // namespace smemtune
