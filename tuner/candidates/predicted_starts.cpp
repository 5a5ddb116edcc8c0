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

using TemplatesByName = std::map<std::string, const KernelTemplate*>;

// Whether the portfolio is for the operation, element size and compute capability of `problem` and `device`, and has a
// member of one of `templates`. Accepts other types and layouts, because kernels for f16 and for bf16 take equally
// long, and kernels for different layouts take similarly long.
template <class Names>
bool is_similar(const PortfolioText& portfolio, const Problem& problem, const Device& device, const Names& templates) {
    return portfolio.operation == problem.operation &&
           element_type(portfolio.type).bytes == element_type(problem.type).bytes &&
           portfolio.device.compute_capability == device.compute_capability &&
           std::ranges::any_of(portfolio.members,
                               [&](const PortfolioRow& row) { return templates.contains(row.kernel_template); });
}

// Predicts the times of the members of `portfolio` that are of one of `templates`, as if they had been verified for the
// type and layout of `like`. `templates` must outlive the result.
Predictor predictor_of(const PortfolioText& portfolio, const Problem& like, const Device& device,
                       const TemplatesByName& templates) {
    auto members = portfolio.members;
    // The text of a portfolio names the template of each member. The predictor tells templates apart by numbers, so
    // each template gets its index in `templates` as its number.
    for (auto& row : members) {
        const auto found = templates.find(row.kernel_template);
        row.member.kernel_template = std::distance(templates.begin(), found);
        if (found != templates.end()) row.member.verified_by = operation_identity(*found->second, like) + "/";
    }
    return Predictor({.members = std::move(members), .damages = {}}, like, device,
                     [&](const TrialRow& row) -> std::shared_ptr<const KernelTemplate> {
                         const auto found = templates.find(row.kernel_template);
                         if (found == templates.end()) return nullptr;
                         return {std::shared_ptr<const void>(), found->second};
                     });
}

}  // namespace

const PortfolioText* most_similar(std::span<const PortfolioText> portfolios, const Problem& problem,
                                  const Device& device, const std::set<std::string>& templates) {
    const auto difference = [&](const PortfolioText& portfolio) {
        return std::tuple(portfolio.layout != problem.layout, portfolio.type != problem.type,
                          distance(portfolio.device, device));
    };
    const PortfolioText* nearest = nullptr;
    for (const auto& portfolio : portfolios) {
        if (!is_similar(portfolio, problem, device, templates)) continue;
        if (nearest == nullptr || difference(portfolio) < difference(*nearest)) nearest = &portfolio;
    }
    return nearest;
}

std::map<std::string, std::vector<Configuration>> predicted_starts(const Problem& problem, const Device& device,
                                                                   const std::vector<PlannedSpace>& templates) {
    std::set<std::string> names;
    TemplatesByName by_name;
    for (const auto& planned : templates) {
        names.insert(planned.kernel_template->name);
        by_name[planned.kernel_template->name] = planned.kernel_template;
    }
    const auto* const portfolio = most_similar(parsed_portfolios(), problem, device, names);
    if (portfolio == nullptr) return {};
    const auto predictor = predictor_of(*portfolio, problem, device, by_name);
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

std::vector<PredictedWinner> predicted_winners(std::span<const Problem> problems, const Device& device,
                                               std::span<const KernelTemplate> templates) {
    TemplatesByName by_name;
    for (const auto& kernel : templates) by_name[kernel.name] = &kernel;
    std::vector<PredictedWinner> winners;
    for (const auto& portfolio : parsed_portfolios()) {
        if (problems.empty() || !is_similar(portfolio, problems.front(), device, by_name)) continue;
        const auto predictor = predictor_of(portfolio, problems.front(), device, by_name);
        Predictor::Scratch scratch;
        for (std::size_t i = 0; i < problems.size(); ++i) {
            predictor.predict(problems[i], scratch);
            if (scratch.predictions.empty()) continue;
            Predictor::put_first(scratch.predictions);
            const auto& first = *scratch.predictions.front().member;
            auto winner = std::ranges::find_if(winners, [&](const PredictedWinner& each) {
                return each.kernel == first.kernel_template.get() && each.configuration == *first.configuration;
            });
            if (winner == winners.end()) {
                winners.push_back({.kernel = first.kernel_template.get(), .configuration = *first.configuration});
                winner = std::prev(winners.end());
            }
            winner->problems.push_back(i);
        }
    }
    for (auto& winner : winners) {
        std::ranges::sort(winner.problems);
        const auto repeated = std::ranges::unique(winner.problems);
        winner.problems.erase(repeated.begin(), repeated.end());
    }
    return winners;
}

}  // namespace smemtune
