#include "tuner/candidates/template_search.h"

#include <algorithm>
#include <cmath>

#include "templates/launch/estimate.h"
#include "templates/launch/occupancy.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

namespace {

constexpr std::size_t least_opening = 4;
constexpr std::size_t most_opening = 48;

// Returns the number of evaluations after which a template may be given up as too slow. This is 1.5 * sqrt(size), but
// at least `least_opening` and at most `most_opening`. In most spaces, the best of so many configurations takes at
// most 1.5 times as long as the template's optimum. Returns 1 if the template was too slow at a neighbouring size.
std::size_t opening_of(const ParameterSpace& space, const WarmStart& elsewhere) {
    const auto wanted = static_cast<std::size_t>(1.5 * std::sqrt(static_cast<double>(space.size())));
    const auto opening = std::clamp(wanted, least_opening, most_opening);
    // If the template was slow at a neighbouring size, its best configuration at that size is tried first. This one
    // trial shows whether the template is slow at this size, too.
    return elsewhere.behind && *elsewhere.behind > pruning::slow_template ? 1 : opening;
}

double logarithm(std::int64_t value) { return std::log2(static_cast<double>(std::max<std::int64_t>(1, value))); }

// Features for the search's surrogate model, in addition to the parameters: resources, occupancy, waves, operations per
// load.
std::vector<double> features_of(const KernelTemplate& kernel, const Configuration& configuration,
                                const Problem& problem, const Device& device) {
    const auto launch = launch_of(kernel, configuration, problem, device);
    const auto resident = device.is_host() ? 1 : occupancy(launch, device).blocks();
    const auto at_once = std::max<std::int64_t>(1, resident * device.multiprocessors);
    const auto reuse = model_values(kernel, configuration, problem, device);
    return {logarithm(launch.threads()),
            logarithm(launch.shared_bytes()),
            static_cast<double>(launch.registers),
            static_cast<double>(resident * launch.threads()),
            logarithm(launch.blocks()),
            static_cast<double>(launch.blocks()) / static_cast<double>(at_once),
            reuse.operations_per_load()};
}

// Sets run-time parameters to their defaults, because their other values are tried after the search.
void with_default_arguments(const KernelTemplate& kernel, std::vector<Configuration>& winners) {
    for (const auto& parameter : kernel.parameters) {
        if (!parameter.runtime) continue;
        for (auto& winner : winners) winner.values[parameter.name] = parameter.default_value;
    }
}

SearchSetup setup_of(const KernelTemplate& kernel, std::shared_ptr<const ParameterSpace> space, unsigned seed,
                     const Problem& problem, const Device& device, std::vector<Configuration> starts) {
    starts.insert(starts.end(), kernel.starts.begin(), kernel.starts.end());
    with_default_arguments(kernel, starts);
    starts.push_back(default_configuration(kernel));
    SearchSetup setup{.space = std::move(space), .seed = seed, .starts = std::move(starts)};
    setup.features = [&kernel, problem, device](const Configuration& configuration) {
        return features_of(kernel, configuration, problem, device);
    };
    if (kernel.model) {
        setup.estimate = [&kernel, problem, device](const Configuration& configuration) {
            return estimated_us(kernel, configuration, problem, device).value_or(HUGE_VAL);
        };
    }
    return setup;
}

}  // namespace

TemplateSearch::TemplateSearch(const PlannedSpace& planned, const TrialKey& key, const TuneRequest& request,
                               const Problem& problem, const Device& device, const WarmStart& elsewhere)
    : kernel_template_(planned.kernel_template),
      space_(planned.space),
      key_(key),
      search_(make_search(request.search, setup_of(*planned.kernel_template, planned.space, request.seed, problem,
                                                   device, elsewhere.starts))),
      stopping_(request.stopping),
      learns_(learns(request.search)),
      patience_(request.stopping.patience),
      opening_(opening_of(*planned.space, elsewhere)),
      tried_(planned.space->size(), false),
      left_(planned.space->size()) {}

std::optional<Configuration> TemplateSearch::next() {
    while (left_ > 0) {
        auto configuration = search_->next();
        if (!configuration) break;
        const auto index = space_->find(*configuration);
        if (!index || !take(*index)) continue;
        ++in_flight_;
        return configuration;
    }
    used_up_ = true;
    return std::nullopt;
}

bool TemplateSearch::take(std::size_t index) {
    if (tried_[index]) return false;
    tried_[index] = true;
    --left_;
    return true;
}

void TemplateSearch::give_back(const Configuration& configuration) {
    const auto index = space_->find(configuration);
    if (!index || !tried_[*index]) return;
    tried_[*index] = false;
    ++left_;
    if (in_flight_ > 0) --in_flight_;
}

void TemplateSearch::observe(const Configuration& configuration, std::optional<double> cost) {
    const auto index = space_->find(configuration);
    if (!index) return;
    if (!take(*index) && in_flight_ > 0) --in_flight_;
    search_->observe(configuration, cost);
    stopping_.add(cost);
}

std::vector<Configuration> TemplateSearch::untried() const {
    std::vector<Configuration> configurations;
    configurations.reserve(left_);
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        if (!tried_[i]) configurations.push_back((*space_)[i]);
    }
    return configurations;
}

void TemplateSearch::resume(bool complete) {
    ended_before_ = complete && stopping_.gain_was_unlikely();
    if (stopping_.evaluations() > 0) opening_ = std::min(opening_, stopping_.evaluations());
}

bool TemplateSearch::is_open(std::optional<double> best) const {
    if (is_used_up()) return false;
    if (!learns_) return true;  // a search that does not learn tries the whole space
    if (ended_before_ || stopping_.gain_is_unlikely()) return false;
    // A template without a measured candidate is given up later than a template that is too slow.
    if (!stopping_.best()) return stopping_.evaluations() < std::max(4 * opening_, patience_);
    return stopping_.evaluations() < opening_ || !best || keeps_up(*best);
}

bool TemplateSearch::may_propose(std::optional<double> best) const {
    if (!is_open(best)) return false;
    const bool opens = learns_ && stopping_.evaluations() < opening_;
    const bool suffices = stopping_.evaluations() + in_flight_ >= opening_;
    return !opens || !suffices || !best || keeps_up(*best);
}

// A template keeps up if its best cost is at most a certain multiple of `best`. The multiple is slow_template while the
// whole space is untried. It falls linearly with the untried share of the space, down to 1 when nothing is untried.
bool TemplateSearch::keeps_up(double best) const {
    const auto untried = static_cast<double>(left_) / static_cast<double>(tried_.size());
    return stopping_.best() && *stopping_.best() <= (1 + (pruning::slow_template - 1) * untried) * best;
}

std::vector<Configuration> TemplateSearch::untried_among(std::vector<Configuration> winners) const {
    with_default_arguments(*kernel_template_, winners);
    std::vector<Configuration> found;
    for (auto& winner : winners) {
        const auto index = space_->find(winner);
        if (!index || tried_[*index] || std::ranges::find(found, winner) != found.end()) continue;
        found.push_back(std::move(winner));
    }
    return found;
}

}  // namespace smemtune
