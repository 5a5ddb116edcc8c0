#include "tuner/portfolio/fit.h"

#include <algorithm>
#include <cmath>

#include "util/statistics.h"

namespace smemtune {

namespace {

constexpr double shrinkage = 0.03;  // weight of the common model, relative to that of the samples
constexpr double unknown_error = 1;
constexpr double share_within_error = 2.0 / 3;

// The sums of a weighted least-squares problem: minimise sum of weight * (x . terms / us - 1)^2.
struct Sums {
    std::array<Terms, term_count> squares{};
    Terms products{};

    void add(const CrossTimes::Cell& cell, double weight) {
        for (std::size_t i = 0; i < term_count; ++i) {
            const auto row = cell.terms[i] / cell.us;
            products[i] += weight * row;
            for (std::size_t j = 0; j < term_count; ++j) squares[i][j] += weight * row * cell.terms[j] / cell.us;
        }
    }
};

// Non-negative least squares by coordinate descent: each coordinate in turn takes its minimum, until none moves. The
// problem is convex, so this converges to its minimum.
Terms solve(Sums sums, const Terms* prior) {
    for (std::size_t i = 0; prior != nullptr && i < term_count; ++i) {
        const auto weight = shrinkage * sums.squares[i][i];
        sums.squares[i][i] += weight;
        sums.products[i] += weight * (*prior)[i];
    }
    Terms x{};
    for (int sweep = 0; sweep < 3000; ++sweep) {
        double largest_move = 0;
        for (std::size_t i = 0; i < term_count; ++i) {
            if (sums.squares[i][i] <= 0) continue;  // the term is 0 everywhere
            double rest = sums.products[i];
            for (std::size_t j = 0; j < term_count; ++j) rest -= j == i ? 0 : sums.squares[i][j] * x[j];
            const auto minimum = std::max(0.0, rest / sums.squares[i][i]);
            largest_move = std::max(largest_move, std::abs(minimum - x[i]) * std::sqrt(sums.squares[i][i]));
            x[i] = minimum;
        }
        if (largest_move < 1e-7) break;
    }
    return x;
}

Sums sums_of(const CrossTimes& times, const std::vector<std::size_t>& problems, std::size_t configuration,
             std::size_t left_out) {
    Sums sums;
    for (const auto problem : problems) {
        const auto& cell = times.cells[problem][configuration];
        if (problem != left_out && cell.us > 0) sums.add(cell, times.best_us(problem) / cell.us);
    }
    return sums;
}

}  // namespace

std::vector<TimeModel> fit_models(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                  const std::vector<std::size_t>& members) {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<Terms> common;  // of each template
    for (std::size_t group = 0; times.configurations() > 0 && group <= std::ranges::max(times.groups); ++group) {
        Sums sums;
        for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
            if (times.groups[configuration] != group) continue;
            for (const auto problem : problems) {
                const auto& cell = times.cells[problem][configuration];
                if (cell.us > 0) sums.add(cell, times.best_us(problem) / cell.us);
            }
        }
        common.push_back(solve(sums, nullptr));
    }
    std::vector<TimeModel> models;
    for (const auto member : members) {
        const auto& prior = common[times.groups[member]];
        TimeModel model{.coefficients = solve(sums_of(times, problems, member, none), &prior), .error = unknown_error};
        std::vector<double> errors;
        for (const auto problem : problems) {
            const auto& cell = times.cells[problem][member];
            if (cell.us <= 0) continue;
            const TimeModel without{.coefficients = solve(sums_of(times, problems, member, problem), &prior)};
            const auto predicted = without.predicted_us(cell.terms);
            errors.push_back(predicted > 0 ? std::exp(std::abs(std::log(predicted / cell.us))) - 1 : unknown_error);
        }
        if (errors.size() >= 3) model.error = quantile(errors, share_within_error);
        models.push_back(model);
    }
    return models;
}

}  // namespace smemtune
