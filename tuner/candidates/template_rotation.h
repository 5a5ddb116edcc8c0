// Decides which template proposes the next candidate of a problem's search.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/candidates/proposal.h"

namespace smemtune {

/// Lets the templates of a problem propose in turns. A slow template then costs little time, and a fast template
/// leaves time for the others.
class TemplateRotation {
public:
    /// `evaluations` limits the evaluations of all templates together. The number of proposals in one turn is at most
    /// `evaluations` divided by the number of templates. `searches` must outlive the rotation.
    TemplateRotation(const TemplateSearches& searches, std::optional<std::size_t> evaluations);

    /// Returns the next candidate; nothing if no template is worth another proposal. `best_cost` is the least cost so
    /// far.
    std::optional<TemplateConfiguration> next(std::optional<double> best_cost);

private:
    [[nodiscard]] TemplateSearch* search_in_turn(std::optional<double> best_cost);

    const TemplateSearches& searches_;
    std::size_t share_;
    std::size_t turn_ = 0;      // index of the template that proposes
    std::size_t proposed_ = 0;  // how many proposals this turn has had so far
};

}  // namespace smemtune
