// The search of one template for one problem: proposes configurations of the template's space, and decides whether
// another proposal is worthwhile.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "db/record.h"
#include "tuner/candidates/warm_start.h"
#include "tuner/search/search.h"
#include "tuner/search/stopping.h"
#include "tuner/tuning/plan.h"

namespace smemtune {

/// Proposes configurations of one template, each once. Decides from their costs when the search ends.
class TemplateSearch {
public:
    TemplateSearch(const PlannedSpace& planned, const TrialKey& key, const TuneRequest& request, const Problem& problem,
                   const Device& device, const WarmStart& elsewhere);

    [[nodiscard]] const KernelTemplate& kernel_template() const { return *kernel_template_; }
    [[nodiscard]] const ParameterSpace& space() const { return *space_; }
    [[nodiscard]] const TrialKey& key() const { return key_; }

    /// Returns the next untried configuration; nothing if the space is used up.
    std::optional<Configuration> next();
    /// Records an outcome. `cost` is empty if the configuration was rejected. Ignores configurations outside the space.
    void observe(const Configuration& configuration, std::optional<double> cost);

    /// Call this after observing the stored trials. From then on, a template that is too slow is given up without
    /// further trials, however few stored trials it has. `complete` says whether the last run ended as "complete". If
    /// so, and if a gain was unlikely after any stored trial, the search stays ended. Stored trials after that point
    /// came from cross-size transfer, so a lower cost among them does not reopen the search.
    void resume(bool complete);

    /// Takes back a proposed configuration that was not tried. The configuration counts as untried, but is not proposed
    /// again.
    void give_back(const Configuration& configuration);

    /// The number of proposals per turn in the rotation. The first turn is long enough to show whether the template is
    /// too slow.
    [[nodiscard]] std::size_t turn() const { return stopping_.evaluations() < opening_ ? opening_ : 8; }
    /// Whether further trials of this template are worthwhile. `best` is the least cost over all templates.
    [[nodiscard]] bool is_open(std::optional<double> best) const;
    /// Whether another proposal is worthwhile now. When all configurations of the first turn are proposed and some
    /// outcomes are pending, a template proposes more only if keeps_up() is true.
    [[nodiscard]] bool may_propose(std::optional<double> best) const;
    /// Whether the template's best cost is close enough to `best`. False if the template has no valid trial.
    [[nodiscard]] bool keeps_up(double best) const;
    /// Sets the run-time parameters of `winners` to their defaults. Returns the resulting configurations that are
    /// untried and valid in this space, each once.
    [[nodiscard]] std::vector<Configuration> untried_among(std::vector<Configuration> winners) const;
    /// All untried configurations, in the order of the space.
    [[nodiscard]] std::vector<Configuration> untried() const;
    [[nodiscard]] bool is_used_up() const { return used_up_ || left_ == 0; }

private:
    // Marks a configuration as tried. Returns false if it was tried before.
    bool take(std::size_t index);

    const KernelTemplate* kernel_template_;
    std::shared_ptr<const ParameterSpace> space_;
    TrialKey key_;
    std::unique_ptr<Search> search_;
    Stopping stopping_;
    bool learns_;
    std::size_t patience_;
    std::size_t opening_;
    std::size_t in_flight_ = 0;  // the number of configurations that are proposed, but not observed yet
    std::vector<bool> tried_;    // whether a configuration was tried, by its index in the space
    std::size_t left_;
    bool used_up_ = false;
    bool ended_before_ = false;  // whether the search ended in an earlier complete run
};

/// The searches of one problem, one for each template, in the order of the plan.
using TemplateSearches = std::vector<std::unique_ptr<TemplateSearch>>;

}  // namespace smemtune
