// Corrects predictions of time models by their errors at measured problems nearby: by a weighted mean of the
// logarithmic residuals. Weights fall with the distance between the logarithms of the extents.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "templates/predict/time_model.h"
#include "templates/space/problem.h"

namespace smemtune {

class Correction {
public:
    Correction() = default;
    /// Merges the places of all residuals of `models`. The cost of find() and of() is proportional to the number of
    /// places.
    explicit Correction(std::span<const TimeModel> models);

    /// A measured problem near a place, by its number, with its weight.
    struct Near {
        std::size_t problem = 0;
        double weight = 0;
    };
    /// Replaces the content of `near` and reuses its memory.
    void find(std::span<const double> place, std::vector<Near>& near) const;

    struct Corrected {
        double factor = 1;  ///< of the predicted time
        double trust = 0;   ///< 0 (nothing measured nearby) to 1; the share 1 - trust of the error remains
    };
    [[nodiscard]] Corrected of(std::size_t model, std::span<const Near> near) const;

private:
    struct Residual {
        double measured = 0;   // 1 if it was measured, else 0
        double log_ratio = 0;  // 0 if it was not
    };
    std::vector<std::vector<double>> places_;       // by extent, then by problem
    std::vector<std::vector<Residual>> residuals_;  // by model, then by problem
};

/// The natural logarithms of the extents, into `place`.
void place_of(const Problem& problem, std::vector<double>& place);

}  // namespace smemtune
