#include "tuner/candidates/predicted_starts.h"

#include <algorithm>
#include <tuple>

#include "runtime/predict/predictor.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

/// The texts of db/portfolios, by file name.
const std::map<std::string, std::string>& shipped_portfolios();

namespace {

constexpr std::size_t most_of_a_template = 3;

const std::vector<PortfolioText>& parsed_portfolios() {
    static const auto portfolios = [] {
        std::vector<PortfolioText> parsed;
        for (const auto& [path, text] : shipped_portfolios()) parsed.push_back(parse_portfolio_text(path, text));
        return parsed;
    }();
    return portfolios;
}

}  // namespace

// Accepts other types and layouts, because kernels for f16 and for bf16 take equally long, and kernels for different
// layouts take similarly long.
const PortfolioText* most_similar(std::span<const PortfolioText> portfolios, const Problem& problem,
                                  const Device& device, const std::set<std::string>& templates) {
    const auto difference = [&](const PortfolioText& portfolio) {
        return std::tuple(portfolio.layout != problem.layout, portfolio.type != problem.type,
                          distance(portfolio.device, device));
    };
    const PortfolioText* nearest = nullptr;
    for (const auto& portfolio : portfolios) {
        const bool is_like = portfolio.operation == problem.operation &&
                             element_type(portfolio.type).bytes == element_type(problem.type).bytes &&
                             portfolio.device.compute_capability == device.compute_capability &&
                             std::ranges::any_of(portfolio.members, [&](const PortfolioRow& row) {
                                 return templates.contains(row.kernel_template);
                             });
        if (is_like && (nearest == nullptr || difference(portfolio) < difference(*nearest))) nearest = &portfolio;
    }
    return nearest;
}

std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates) {
    std::set<std::string> names;
    for (const auto& planned : templates) names.insert(planned.kernel_template->name);
    const auto* const portfolio = most_similar(parsed_portfolios(), problem, device, names);
    if (portfolio == nullptr) return {};
    auto members = portfolio->members;
    // The text of a portfolio names the template of each member. The predictor tells templates apart by numbers, so
    // each template gets its index in `kernels` as its number.
    std::map<std::string, std::shared_ptr<const KernelTemplate>> kernels;
    for (const auto& planned : templates) {
        kernels[planned.kernel_template->name] = {std::shared_ptr<const void>(), planned.kernel_template};
    }
    for (auto& row : members) {
        const auto found = kernels.find(row.kernel_template);
        row.member.kernel_template = std::distance(kernels.begin(), found);
        // The predictor leaves out members that were not verified for this type and layout. Here, every member counts
        // as verified, because the search verifies its start points itself.
        if (found != kernels.end()) row.member.verified_by = operation_identity(*found->second, problem) + "/";
    }
    const Predictor predictor({.members = std::move(members), .damages = {}}, problem, device,
                              [&](const TrialRow& row) -> std::shared_ptr<const KernelTemplate> {
                                  const auto found = kernels.find(row.kernel_template);
                                  return found == kernels.end() ? nullptr : found->second;
                              });
    std::map<std::string, std::vector<Configuration>> starts;
    double best_us = 0;
    for (const auto& prediction : predictor.ranking(problem)) {
        if (best_us == 0) best_us = prediction.us;
        auto& own = starts[prediction.member->kernel_template->name];
        if (own.size() < most_of_a_template && prediction.us <= pruning::slow_template * best_us) {
            own.push_back(*prediction.member->configuration);
        }
    }
    return starts;
}

}  // namespace smemtune
