#include "tuner/portfolio/cross_check.h"

#include <algorithm>
#include <cmath>

#include "tuner/portfolio/choose.h"
#include "tuner/portfolio/fit.h"

namespace smemtune {

namespace {

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

// The configurations that won a problem of `problems`, or none at all.
std::vector<std::size_t> found_within(const CrossTimes& times, const std::vector<std::size_t>& problems) {
    std::vector<std::size_t> found;
    for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
        const auto& won = times.won[configuration];
        const bool within =
            won.empty() || std::ranges::any_of(won, [&](auto each) { return std::ranges::count(problems, each) > 0; });
        if (within) found.push_back(configuration);
    }
    return found;
}

std::optional<double> loss_of_nearest(const CrossTimes& times, std::size_t problem,
                                      const std::vector<std::size_t>& known) {
    auto near = known;
    std::ranges::stable_sort(
        near, {}, [&](std::size_t each) { return squared_distance(times.places[each], times.places[problem]); });
    for (const auto each : near) {
        for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
            const bool won = std::ranges::count(times.won[configuration], each) > 0;
            if (won && times.cells[problem][configuration].us > 0) return times.loss(problem, configuration);
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size, std::size_t folds) {
    std::vector<LeftOut> result;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> known;
        for (std::size_t problem = 0; problem < times.problems(); ++problem) {
            if (problem % folds != fold) known.push_back(problem);
        }
        const auto members = choose_members(times, known, found_within(times, known), size);
        const auto models = fit_models(times, known, members);
        for (auto problem = fold; problem < times.problems(); problem += folds) {
            if (times.best_us(problem) <= 0) continue;
            LeftOut left_out{.problem = problem};
            double least = 0;
            for (std::size_t i = 0; i < members.size(); ++i) {
                const auto& cell = times.cells[problem][members[i]];
                if (cell.us <= 0) continue;
                const auto loss = times.loss(problem, members[i]);
                const auto predicted = models[i].predicted_us(cell.terms) * (1 + models[i].error);
                if (!left_out.predicted || predicted < least) {
                    least = predicted;
                    left_out.predicted = loss;
                }
                left_out.best_member = std::min(left_out.best_member.value_or(loss), loss);
                if (i == 0) left_out.one_for_all = loss;
            }
            left_out.nearest = loss_of_nearest(times, problem, known);
            result.push_back(left_out);
        }
    }
    std::ranges::sort(result, {}, &LeftOut::problem);
    return result;
}

}  // namespace smemtune
