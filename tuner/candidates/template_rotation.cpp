#include "tuner/candidates/template_rotation.h"

#include <algorithm>

namespace smemtune {

TemplateRotation::TemplateRotation(const TemplateSearches& searches, std::optional<std::size_t> evaluations)
    : searches_(searches), share_(std::max<std::size_t>(1, evaluations.value_or(SIZE_MAX) / searches.size())) {}

std::optional<TemplateConfiguration> TemplateRotation::next(std::optional<double> best_cost) {
    while (auto* search = search_in_turn(best_cost)) {
        if (auto configuration = search->next()) return TemplateConfiguration{search, std::move(*configuration)};
    }
    return std::nullopt;
}

TemplateSearch* TemplateRotation::search_in_turn(std::optional<double> best_cost) {
    for (std::size_t passed = 0; passed <= searches_.size(); ++passed) {
        auto& search = *searches_[turn_];
        if (search.may_propose(best_cost) && proposed_ < std::min(share_, search.turn())) {
            ++proposed_;
            return &search;
        }
        turn_ = (turn_ + 1) % searches_.size();
        proposed_ = 0;
    }
    return nullptr;
}

}  // namespace smemtune
