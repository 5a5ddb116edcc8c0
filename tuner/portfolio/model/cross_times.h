// A table of the times of configurations at problems. These times decide which configurations become members of a
// portfolio. The members' time models are fitted to these times and checked with them.
#pragma once

#include <cstddef>
#include <vector>

#include "templates/predict/row_alignment.h"
#include "templates/predict/time_model.h"

namespace smemtune {

struct CrossTimes {
    struct Cell {
        double us = 0;  ///< 0 if the configuration is not valid at the problem, is wrong, or was not timed
        Terms terms{};  ///< the terms of the time model; all 0 if the configuration is not valid there

        [[nodiscard]] bool is_valid() const { return terms[static_cast<std::size_t>(Term::launch)] > 0; }
    };
    std::vector<double> counts;               ///< of each problem: how often an application asks for it
    std::vector<std::vector<double>> places;  ///< of each problem: the logarithms of its extents
    std::vector<std::size_t> groups;          ///< of each configuration: the number of its template
    std::vector<std::vector<std::size_t>>
        found;  ///< of each configuration: the problems where a search or a prediction found it
    std::vector<std::vector<std::size_t>> won;  ///< of each configuration: the problems that it is the winner of
    std::vector<std::vector<Cell>> cells;       ///< by problem, then by configuration
    RowAlignment alignment{};                   ///< tells how the rows of a problem's matrices are aligned

    [[nodiscard]] std::size_t problems() const { return cells.size(); }
    [[nodiscard]] std::size_t configurations() const { return groups.size(); }
    /// The shortest time at a problem; 0 if no configuration runs there.
    [[nodiscard]] double best_us(std::size_t problem) const;
    /// The time of the configuration divided by the shortest time at the problem, minus 1. Precondition: the
    /// configuration runs at the problem.
    [[nodiscard]] double loss(std::size_t problem, std::size_t configuration) const {
        return cells[problem][configuration].us / best_us(problem) - 1;
    }
};

/// The squared Euclidean distance between two places.
inline double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

}  // namespace smemtune
