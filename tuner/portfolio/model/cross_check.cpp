#include "tuner/portfolio/model/cross_check.h"

#include <algorithm>

#include "tuner/portfolio/model/choose.h"
#include "tuner/portfolio/model/fitted_members.h"

namespace smemtune {

namespace {

// Returns the configurations that a search or a prediction found at one of `problems`. Also returns those for which no
// problem is recorded.
std::vector<std::size_t> found_within(const CrossTimes& times, const std::vector<std::size_t>& problems) {
    std::vector<std::size_t> found;
    for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
        const auto& at = times.found[configuration];
        const bool within =
            at.empty() || std::ranges::any_of(at, [&](auto each) { return std::ranges::count(problems, each) > 0; });
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

// The loss of the member that a fetch would choose for `problem`. Members that were not timed there are passed over.
// Nothing if none was timed there.
std::optional<double> loss_of_predicted(const CrossTimes& times, const FittedMembers& fitted, std::size_t problem) {
    for (const auto& prediction : fitted.ranking(problem)) {
        if (times.cells[problem][prediction.member].us > 0) return times.loss(problem, prediction.member);
    }
    return std::nullopt;
}

}  // namespace

std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size, const std::vector<std::size_t>& members,
                                    std::size_t folds) {
    std::vector<LeftOut> result;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> known;
        for (std::size_t problem = 0; problem < times.problems(); ++problem) {
            if (problem % folds != fold) known.push_back(problem);
        }
        const FittedMembers chosen(times, known, choose_members(times, known, found_within(times, known), size));
        const FittedMembers same(times, known, members);
        for (auto problem = fold; problem < times.problems(); problem += folds) {
            if (times.best_us(problem) <= 0) continue;
            LeftOut left_out{.problem = problem,
                             .predicted = loss_of_predicted(times, chosen, problem),
                             .nearest = loss_of_nearest(times, problem, known),
                             .same_members = loss_of_predicted(times, same, problem)};
            for (std::size_t i = 0; i < chosen.members().size(); ++i) {
                if (times.cells[problem][chosen.members()[i]].us <= 0) continue;
                const auto loss = times.loss(problem, chosen.members()[i]);
                left_out.best_member = std::min(left_out.best_member.value_or(loss), loss);
                if (i == 0) left_out.one_for_all = loss;
            }
            result.push_back(left_out);
        }
    }
    std::ranges::sort(result, {}, &LeftOut::problem);
    return result;
}

}  // namespace smemtune
