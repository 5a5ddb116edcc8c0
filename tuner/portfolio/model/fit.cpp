#include "tuner/portfolio/model/fit.h"

#include <algorithm>
#include <cmath>

#include "util/statistics.h"

namespace smemtune {

namespace {

// Coefficients are regularised towards the common model of the template. The weight of the common model has two parts.
// The first part is `shrinkage` times the weight of the configuration's own times. The second part is the weight of
// `common_times` measured times with average terms. The second part decides those coefficients about which the
// configuration's own times say little.
constexpr double shrinkage = 0.03;
constexpr double common_times = 0.5;
constexpr double unknown_error = 0.3;  // the assumed error of a model that is fitted to fewer than 3 measured times
constexpr double share_within_error = 2.0 / 3;
constexpr int sweeps_without = 100;  // limit of sweeps in leave-one-out fits, which start near their solution
// A residual is kept if the measured or the predicted time is at most this many times the best time at the problem.
constexpr double relevant_factor = 2;

// The sums of a weighted least-squares problem: find the x that minimises the sum of weight * (x . terms / us - 1)^2.
struct Sums {
    std::array<Terms, term_count> squares{};
    Terms products{};
    double times = 0;
    double weights = 0;

    // Adds the time of one configuration at one problem. A negative weight removes a time that was added before.
    void add(const CrossTimes::Cell& cell, double weight) {
        times += weight > 0 ? 1 : -1;
        weights += weight;
        for (std::size_t i = 0; i < term_count; ++i) {
            const auto row = cell.terms[i] / cell.us;
            products[i] += weight * row;
            for (std::size_t j = 0; j < term_count; ++j) squares[i][j] += weight * row * cell.terms[j] / cell.us;
        }
    }
    void add(const Sums& other) {
        times += other.times;
        weights += other.weights;
        for (std::size_t i = 0; i < term_count; ++i) {
            products[i] += other.products[i];
            for (std::size_t j = 0; j < term_count; ++j) squares[i][j] += other.squares[i][j];
        }
    }
};

// The common model of a template, fitted to the times of all its configurations.
struct Prior {
    Terms coefficients{};
    Terms squares{};  // the diagonal of Sums::squares of the template, divided by Sums::weights
};

// Non-negative least squares by coordinate descent. Each coordinate in turn moves to its minimum, until no coordinate
// moves. The problem is convex, so the result is its minimum. A `start` near the minimum saves time.
Terms solve(const Sums& sums, const Terms& start = {}, int most_sweeps = 3000) {
    Terms x = start;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double largest_move = 0;
        for (std::size_t i = 0; i < term_count; ++i) {
            if (sums.squares[i][i] <= 0) continue;  // the term is 0 at every problem, so its coefficient stays
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

// Returns the factor of Prior::squares in the second part of the common model's weight (see `common_times`). The
// factor is `common_times` times the mean weight of the configuration's times. If the common model's predictions are
// only a share r < 1 of the measured times, the factor is also multiplied by r^2. The reason: per unit of weight,
// such a configuration's Sums::squares is about r^2 times that of the template.
double times_of(const Prior& prior, const Sums& sums) {
    if (sums.weights <= 0 || sums.times <= 0) return common_times;
    double ratio = 0;  // the mean of predicted time / measured time
    for (std::size_t i = 0; i < term_count; ++i) ratio += prior.coefficients[i] * sums.products[i] / sums.weights;
    return common_times * sums.weights / sums.times * std::min(1.0, ratio * ratio);
}

// Like solve() above, but regularised towards the common model.
Terms solve(Sums sums, const Prior& prior, const Terms& start = {}, int most_sweeps = 3000) {
    const auto times = times_of(prior, sums);
    for (std::size_t i = 0; i < term_count; ++i) {
        const auto weight = shrinkage * sums.squares[i][i] + times * prior.squares[i];
        sums.squares[i][i] += weight;
        sums.products[i] += weight * prior.coefficients[i];
    }
    return solve(sums, start, most_sweeps);
}

double weight_of(const CrossTimes& times, std::size_t problem, const CrossTimes::Cell& cell) {
    return times.best_us(problem) / cell.us;
}

Sums sums_of(const CrossTimes& times, const std::vector<std::size_t>& problems, std::size_t configuration) {
    Sums sums;
    for (const auto problem : problems) {
        const auto& cell = times.cells[problem][configuration];
        if (cell.us > 0) sums.add(cell, weight_of(times, problem, cell));
    }
    return sums;
}

double rounded(double value) { return std::round(value * 1e4) * 1e-4; }

// Fits the model of one configuration. The residual at each problem is that of a model fitted without this problem.
TimeModel fit_model(const CrossTimes& times, const std::vector<std::size_t>& problems, std::size_t configuration,
                    const Prior& prior) {
    const auto sums = sums_of(times, problems, configuration);
    TimeModel model{.coefficients = solve(sums, prior), .error = unknown_error};
    std::vector<double> errors;
    for (const auto problem : problems) {
        const auto& cell = times.cells[problem][configuration];
        if (cell.us <= 0) continue;
        auto others = sums;
        others.add(cell, -weight_of(times, problem, cell));
        const TimeModel without{.coefficients = solve(others, prior, model.coefficients, sweeps_without)};
        const auto predicted = without.predicted_us(cell.terms);
        const auto log_ratio = predicted > 0 ? std::log(cell.us / predicted) : unknown_error;
        errors.push_back(std::exp(std::abs(log_ratio)) - 1);
        if (std::min(predicted, cell.us) > relevant_factor * times.best_us(problem)) continue;
        model.residuals.push_back({.place = times.places[problem], .log_ratio = rounded(log_ratio)});
    }
    if (errors.size() >= 3) model.error = quantile(errors, share_within_error);
    return model;
}

}  // namespace

std::vector<TimeModel> fit_models(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                  const std::vector<std::size_t>& members) {
    std::vector<Prior> common;  // the common model of each template
    for (std::size_t group = 0; times.configurations() > 0 && group <= std::ranges::max(times.groups); ++group) {
        Sums sums;
        for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
            if (times.groups[configuration] == group) sums.add(sums_of(times, problems, configuration));
        }
        Prior prior{.coefficients = solve(sums)};
        for (std::size_t i = 0; i < term_count && sums.weights > 0; ++i) {
            prior.squares[i] = sums.squares[i][i] / sums.weights;
        }
        common.push_back(prior);
    }
    std::vector<TimeModel> models;
    models.reserve(members.size());
    for (const auto member : members) {
        models.push_back(fit_model(times, problems, member, common[times.groups[member]]));
    }
    return models;
}

}  // namespace smemtune
