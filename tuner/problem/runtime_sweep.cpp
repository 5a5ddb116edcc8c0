#include "tuner/problem/runtime_sweep.h"

#include <algorithm>
#include <set>

#include "templates/launch/limits.h"

namespace smemtune {

namespace {

constexpr std::size_t most_swept = 4;  // the number of configurations whose variants the sweep tries

}  // namespace

std::vector<Configuration> runtime_variants(const KernelTemplate& kernel_template, const Configuration& configuration,
                                            const Problem& problem, const Device& device) {
    std::vector<Configuration> variants{configuration};
    for (const auto& parameter : kernel_template.parameters) {
        if (!parameter.runtime) continue;
        std::vector<Configuration> more;
        for (const auto& variant : variants) {
            for (const auto value : parameter.values) {
                more.push_back(variant);
                more.back().values[parameter.name] = value;
            }
        }
        variants = std::move(more);
    }
    std::erase_if(variants, [&](const Configuration& variant) {
        return variant == configuration || infeasibility(kernel_template, variant, problem, device);
    });
    return variants;
}

std::vector<TemplateConfiguration> sweep_candidates(TrialLedger& ledger, const Problem& problem, const Device& device,
                                                    bool transferred) {
    std::set<std::pair<const TemplateSearch*, std::string>> tried;
    for (const auto& trial : ledger.trials()) tried.emplace(trial.search, to_text(trial.record.configuration));
    auto best = ledger.by_cost();
    std::erase_if(best, [](const auto* trial) { return !trial->search->space().find(trial->record.configuration); });
    best.resize(std::min(best.size(), most_swept));
    if (transferred) std::erase_if(best, [](const auto* trial) { return !trial->transferred; });
    std::vector<TemplateConfiguration> candidates;
    for (const auto* trial : best) {
        const auto& kernel = trial->search->kernel_template();
        for (auto& variant : runtime_variants(kernel, trial->record.configuration, problem, device)) {
            if (!tried.emplace(trial->search, to_text(variant)).second) continue;
            candidates.push_back({trial->search, std::move(variant)});
        }
    }
    return candidates;
}

}  // namespace smemtune
