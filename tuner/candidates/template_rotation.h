// Which template proposes the next candidate of a problem's search.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// The templates propose in turns, so that a slow one costs little and a fast one does not starve the others.
class TemplateRotation {
public:
    /// `evaluations`: a limit over all templates, of which a turn takes no more than an equal share. `searches` must
    /// outlive the rotation.
    TemplateRotation(const TemplateSearches& searches, std::optional<std::size_t> evaluations);

    /// The next candidate where `best_cost` is the least cost so far; nothing when no template is worth another one.
    std::optional<TemplateConfiguration> next(std::optional<double> best_cost);

private:
    [[nodiscard]] TemplateSearch* search_in_turn(std::optional<double> best_cost);

    const TemplateSearches& searches_;
    std::size_t share_;
    std::size_t turn_ = 0;      // index of the template that proposes
    std::size_t proposed_ = 0;  // its proposals in this turn
};

}  // namespace smemtune
