#include "tuner/portfolio/model/fitted_members.h"

#include <algorithm>
#include <utility>

#include "tuner/portfolio/model/fit.h"

namespace smemtune {

FittedMembers::FittedMembers(const CrossTimes& times, const std::vector<std::size_t>& problems,
                             std::vector<std::size_t> members)
    : times_(times),
      members_(std::move(members)),
      models_(fit_models(times, problems, members_)),
      correction_(models_, times.alignment) {}

std::vector<FittedMembers::Prediction> FittedMembers::ranking(std::size_t problem) const {
    std::vector<Correction::Near> near;
    correction_.find(times_.places[problem], near);
    std::vector<Prediction> predictions;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& cell = times_.cells[problem][members_[i]];
        if (!cell.is_valid()) continue;
        const auto corrected = correction_.of(i, near);
        const auto us = corrected.factor * models_[i].predicted_us(cell.terms);
        predictions.push_back({members_[i], us * (1 + corrected.error(models_[i].error))});
    }
    std::ranges::stable_sort(predictions, {}, &Prediction::cautious_us);
    return predictions;
}

}  // namespace smemtune
