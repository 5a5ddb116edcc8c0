// Corrects the predictions of time models by their errors at nearby measured problems. The correction is a weighted
// mean of the logarithmic residuals. Weights fall with the distance between the logarithms of the extents. They also
// depend on the row alignment (row_alignment.h). A measured problem counts only if, for each matrix, the row length is
// a multiple of 16 bytes at both problems (measured and predicted) or at neither. The weight is halved for each matrix
// whose row length is a multiple of 32 bytes at only one of the two problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "templates/predict/row_alignment.h"
#include "templates/predict/time_model.h"
#include "templates/space/problem.h"

namespace smemtune {

class Correction {
public:
    Correction() = default;
    /// Collects the measured problems of all `models`. The time of find() is proportional to the number of measured
    /// problems that have the same WholeUnits::of_16_bytes as the problem that find() is called for.
    explicit Correction(std::span<const TimeModel> models, RowAlignment alignment = {});

    /// The number of a nearby measured problem, and its weight in the correction.
    struct Near {
        std::size_t problem = 0;
        double weight = 0;
    };
    /// Finds the measured problems that are near a problem and have the same WholeUnits::of_16_bytes. `place` is the
    /// logarithms of the problem's extents. Replaces the content of `near` and reuses its memory.
    void find(std::span<const double> place, std::vector<Near>& near) const;

    /// Memory that several calls of find() can reuse.
    struct Scratch {
        std::vector<Near> near;
        std::vector<double> place;
        StraightLine::Values columns;
    };
    /// Like find(place, near), for a problem that has the operation's extents. Writes the result to `scratch.near`.
    void find(const Problem& problem, Scratch& scratch) const;

    struct Corrected {
        double factor = 1;  ///< multiply the predicted time by this factor
        double trust = 0;   ///< from 0 (nothing measured nearby) to 1
        /// Returns the relative error of the corrected time: sqrt((1 - trust) * model_error^2 + trust * least_error^2).
        /// `model_error` is the error of the uncorrected model (TimeModel::error); `least_error` is a small constant.
        [[nodiscard]] double error(double model_error) const;
    };
    [[nodiscard]] Corrected of(std::size_t model, std::span<const Near> near) const;

private:
    struct Residual {
        double measured = 0;   // 1 if the model's configuration was measured at the problem, else 0
        double log_ratio = 0;  // logarithm of the measured over the predicted time; 0 if not measured
    };
    // The measured problems with the same WholeUnits::of_16_bytes.
    struct Group {
        std::vector<std::size_t> problems;        // indices of the problems in residuals_[model]
        std::vector<std::vector<double>> places;  // logarithms of extents: places[extent][index in `problems`]
        std::vector<std::uint32_t> of_32_bytes;   // WholeUnits::of_32_bytes of each problem
    };
    void find(const WholeUnits& whole, std::span<const double> place, std::vector<Near>& near) const;

    RowAlignment alignment_;
    double reach_ = 1;                              // the standard deviation of the weights, as a distance
    std::map<std::uint32_t, Group> groups_;         // the key is WholeUnits::of_16_bytes
    std::vector<std::vector<Residual>> residuals_;  // indexed as residuals_[model][problem]
};

/// Returns the extents whose natural logarithms are `place`.
std::vector<std::int64_t> extents_at(std::span<const double> place);

/// Writes the natural logarithms of the problem's extents into `place`.
void place_of(const Problem& problem, std::vector<double>& place);

}  // namespace smemtune
