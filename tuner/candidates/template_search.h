// One template's share of a problem's tuning: its space, its search, and whether another proposal is worthwhile.
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

/// Proposes configurations of one template, none twice, and judges by their costs when to stop.
class TemplateSearch {
public:
    TemplateSearch(const PlannedSpace& planned, const TrialKey& key, const TuneRequest& request, const Problem& problem,
                   const Device& device, const WarmStart& elsewhere);

    [[nodiscard]] const KernelTemplate& kernel_template() const { return *kernel_template_; }
    [[nodiscard]] const ParameterSpace& space() const { return *space_; }
    [[nodiscard]] const TrialKey& key() const { return key_; }

    /// The next configuration that was not tried before; nothing when the space is used up.
    std::optional<Configuration> next();
    /// Ignores a configuration outside the space. `cost`: nothing when it was rejected.
    void observe(const Configuration& configuration, std::optional<double> cost);

    /// Call it after the stored trials are observed: evaluations that sufficed to give the template up before suffice
    /// now. If the run before was `complete`, a search that had ended stays ended: its later trials came from other
    /// sizes.
    void resume(bool complete);

    /// Proposals in a row before the next template has its turn: at first enough to see what the template is worth.
    [[nodiscard]] std::size_t turn() const { return stopping_.evaluations() < opening_ ? opening_ : 8; }
    /// Whether it is worth another proposal where `best` is the least cost over all templates.
    [[nodiscard]] bool is_open(std::optional<double> best) const;
    /// Whether it is not clearly behind `best`.
    [[nodiscard]] bool keeps_up(double best) const;
    /// Those of `winners` that are valid here and were not tried before, with run-time arguments at their defaults,
    /// none twice.
    [[nodiscard]] std::vector<Configuration> untried_among(std::vector<Configuration> winners) const;
    /// All of them, in the order of the space.
    [[nodiscard]] std::vector<Configuration> untried() const;
    [[nodiscard]] bool is_used_up() const { return used_up_ || left_ == 0; }

private:
    // False when the configuration of that index was tried before.
    bool take(std::size_t index);

    const KernelTemplate* kernel_template_;
    std::shared_ptr<const ParameterSpace> space_;
    TrialKey key_;
    std::unique_ptr<Search> search_;
    Stopping stopping_;
    bool learns_;
    std::size_t patience_;
    std::size_t opening_;
    std::vector<bool> tried_;  // by index into the space
    std::size_t left_;
    bool used_up_ = false;
    bool ended_before_ = false;  // in a complete run
};

/// The templates of one problem, in the order of the plan.
using TemplateSearches = std::vector<std::unique_ptr<TemplateSearch>>;

}  // namespace smemtune
