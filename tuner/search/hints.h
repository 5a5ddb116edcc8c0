// What a setup says about a point beside its parameters, asked once for each point: its callbacks may be slow.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/search.h"

namespace smemtune {

class Hints {
public:
    explicit Hints(SearchSetup setup) : setup_(std::move(setup)) {}

    [[nodiscard]] const ParameterSpace& space() const { return *setup_.space; }
    [[nodiscard]] bool has_estimate() const { return setup_.estimate != nullptr; }
    [[nodiscard]] bool has_any() const { return has_estimate() || setup_.features; }
    /// Precondition: has_estimate(). What is not a number is taken for infinite, here and below.
    double estimate(std::size_t index);
    /// Valid as long as this object. Empty where the setup has none.
    const std::vector<double>& features(std::size_t index);

private:
    struct Answers {
        std::optional<double> estimate;
        std::optional<std::vector<double>> features;
    };

    SearchSetup setup_;
    std::unordered_map<std::size_t, Answers> answers_;  // nodes stay where they are as it grows
};

}  // namespace smemtune
