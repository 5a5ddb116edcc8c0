// Caches the features and the estimate of each point, because the callbacks of a SearchSetup may be slow.
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
    /// Returns the estimate of point `index`; infinity if the callback returned NaN. Precondition: has_estimate().
    double estimate(std::size_t index);
    /// Returns the features of point `index`, with infinity in place of NaN. Empty if the setup has no features. The
    /// reference stays valid as long as this FeatureCache exists.
    const std::vector<double>& features(std::size_t index);

private:
    struct Answers {
        std::optional<double> estimate;
        std::optional<std::vector<double>> features;
    };

    SearchSetup setup_;
    std::unordered_map<std::size_t, Answers> answers_;  // references to its elements stay valid as the map grows
};

}  // namespace smemtune
