#include "tuner/portfolio/model/cross_check.h"

#include <algorithm>
#include <utility>

#include "templates/predict/correction.h"
#include "tuner/portfolio/model/choose.h"
#include "tuner/portfolio/model/fit.h"

namespace smemtune {

namespace {

// Returns the configurations that a search or a prediction found at one of `problems`, and the configurations that were
// found at no problem.
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

// Members, with models that were fitted to their times at some of the problems.
class Fitted {
public:
    Fitted(const CrossTimes& times, const std::vector<std::size_t>& problems, std::vector<std::size_t> members)
        : times_(times),
          members_(std::move(members)),
          models_(fit_models(times, problems, members_)),
          correction_(models_, times.alignment) {}

    /// The loss of the member that a fetch would choose for `problem`: the member with the smallest product of
    /// corrected predicted time and 1 + (1 - trust) * error (see Correction). Nothing if no member runs at the problem.
    [[nodiscard]] std::optional<double> loss_of_predicted(std::size_t problem) const {
        std::vector<Correction::Near> near;
        correction_.find(times_.places[problem], near);
        std::optional<double> loss;
        double least = 0;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const auto& cell = times_.cells[problem][members_[i]];
            if (cell.us <= 0) continue;
            const auto [factor, trust] = correction_.of(i, near);
            const auto predicted = factor * models_[i].predicted_us(cell.terms) * (1 + (1 - trust) * models_[i].error);
            if (loss && predicted >= least) continue;
            least = predicted;
            loss = times_.loss(problem, members_[i]);
        }
        return loss;
    }
    [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }

private:
    const CrossTimes& times_;
    std::vector<std::size_t> members_;
    std::vector<TimeModel> models_;
    Correction correction_;
};

}  // namespace

std::vector<LeftOut> check_left_out(const CrossTimes& times, std::size_t size, const std::vector<std::size_t>& members,
                                    std::size_t folds) {
    std::vector<LeftOut> result;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> known;
        for (std::size_t problem = 0; problem < times.problems(); ++problem) {
            if (problem % folds != fold) known.push_back(problem);
        }
        const Fitted chosen(times, known, choose_members(times, known, found_within(times, known), size));
        const Fitted same(times, known, members);
        for (auto problem = fold; problem < times.problems(); problem += folds) {
            if (times.best_us(problem) <= 0) continue;
            LeftOut left_out{.problem = problem,
                             .predicted = chosen.loss_of_predicted(problem),
                             .nearest = loss_of_nearest(times, problem, known),
                             .same_members = same.loss_of_predicted(problem)};
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
