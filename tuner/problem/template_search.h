// One template's share of a problem's tuning: its space, its search, and whether it is worth going on with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "db/record.h"
#include "tuner/problem/transfer.h"
#include "tuner/search/search.h"
#include "tuner/search/stopping.h"
#include "tuner/tuning/tune.h"

namespace smemtune {

class TemplateSearch {
public:
    TemplateSearch(const PlannedSpace& planned, const TrialKey& key, const TuneRequest& request, const Problem& problem,
                   const Device& device, const Transfer& elsewhere);

    [[nodiscard]] const KernelTemplate& kernel_template() const { return *kernel_template_; }
    [[nodiscard]] const ParameterSpace& space() const { return *space_; }
    [[nodiscard]] const TrialKey& key() const { return key_; }

    /// The next configuration that was not tried before; nothing when the space is used up.
    std::optional<Configuration> next();
    /// False for a configuration outside the space: it says nothing here.
    bool observe(const Configuration& configuration, std::optional<double> cost);

    /// After what was stored is observed: what was enough to give the template up before is enough now. So is what
    /// ended its search, if the run before was `complete`: what came after came from other sizes.
    void resume(bool complete);

    /// Proposals in a row before other lanes have their turn: at first enough to see what the template is worth.
    [[nodiscard]] std::size_t turn() const { return stopping_.evaluations() < opening_ ? opening_ : 8; }
    /// Whether it is worth another proposal where `best` is the least cost over all lanes.
    [[nodiscard]] bool is_open(std::optional<double> best) const;
    /// Whether it is not clearly behind `best`.
    [[nodiscard]] bool keeps_up(double best) const;
    /// What won elsewhere as it would be tried here, with run-time arguments at their defaults: what is valid and was
    /// not tried before, none twice.
    [[nodiscard]] std::vector<Configuration> news_among(std::vector<Configuration> winners) const;
    /// In the order of the space.
    [[nodiscard]] std::vector<Configuration> untried() const;
    [[nodiscard]] bool is_used_up() const { return used_up_ || left_ == 0; }

private:
    // By index into the space; false for what was tried.
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
    bool was_enough_ = false;
};

}  // namespace smemtune
