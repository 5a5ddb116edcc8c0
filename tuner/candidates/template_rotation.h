// Decides which template proposes the next candidate of a problem's search.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// Templates propose in turns: a slow template costs little, and a fast one does not starve the others.
class TemplateRotation {
public:
    /// `evaluations` limits all templates together; a turn takes at most an equal share of it. `searches` must outlive
    /// the rotation.
    TemplateRotation(const TemplateSearches& searches, std::optional<std::size_t> evaluations);

    /// The next candidate, given the least cost so far; nothing if no template is worth another proposal.
    std::optional<TemplateConfiguration> next(std::optional<double> best_cost);

private:
    [[nodiscard]] TemplateSearch* search_in_turn(std::optional<double> best_cost);

    const TemplateSearches& searches_;
    std::size_t share_;
    std::size_t turn_ = 0;      // index of the template that proposes
    std::size_t proposed_ = 0;  // proposals in this turn
};

}  // namespace smemtune
