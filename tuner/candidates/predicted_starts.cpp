#include "tuner/candidates/predicted_starts.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

#include "runtime/predict/predictor.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {

/// The texts of db/portfolios, by file name.
const std::map<std::string, std::string>& shipped_portfolios();

namespace {

constexpr std::size_t most_of_a_template = 3;

// Returns the portfolios for an operation and a compute capability. Parses only these, because each run of smemtune
// would otherwise parse megabytes of text.
const std::vector<PortfolioText>& portfolios_for(const std::string& operation, const Device& device) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, std::int64_t>, std::vector<PortfolioText>> parsed;
    const std::scoped_lock lock(mutex);
    const auto [known, is_new] = parsed.try_emplace({operation, device.compute_capability});
    if (!is_new) return known->second;
    for (const auto& [path, text] : shipped_portfolios()) {
        const bool fits = text.find("\noperation = \"" + operation + "\"\n") != std::string::npos &&
                          text.find("\ncompute_capability = " + std::to_string(device.compute_capability) + "\n") !=
                              std::string::npos;
        if (fits) known->second.push_back(parse_portfolio_text(path, text));
    }
    return known->second;
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

// Whether the template has the parameters of the configuration, with these values. A template may have changed since
// the portfolio was measured, and a user's template may have the same name.
bool is_in_space(const KernelTemplate& kernel, const Configuration& configuration) {
    return std::ranges::all_of(configuration.values, [&](const auto& each) {
        const auto parameter = std::ranges::find(kernel.parameters, each.first, &Parameter::name);
        return parameter != kernel.parameters.end() && std::ranges::count(parameter->values, each.second) > 0;
    });
}

// Returns the configuration, and variants of it: a template may have gained parameters of the launch since the
// portfolio was measured, and their values other than the default were not tried then. Each variant has one such value.
std::vector<Configuration> with_new_values(const KernelTemplate& kernel, const Configuration& configuration) {
    std::vector<Configuration> all{configuration};
    for (const auto& parameter : kernel.parameters) {
        if (!parameter.launch || configuration.values.contains(parameter.name)) continue;
        for (const auto value : parameter.values) {
            if (value == parameter.default_value) continue;
            all.push_back(configuration);
            all.back().values[parameter.name] = value;
        }
    }
    return all;
}

// Predicts the times of those members of `portfolio` whose template is one of `templates`, and of their variants
// (with_new_values()). Treats them as verified for all of `problems`, which must have the same operation, type and
// layout. The kernels of `templates` must outlive the result.
Predictor predictor_of(const PortfolioText& portfolio, std::span<const Problem> problems, const Device& device,
                       const TemplatesByName& templates) {
    const auto& like = problems.front();
    std::set<std::string> classes;
    for (const auto& problem : problems) classes.insert(problem_class(problem, element_type(like.type).bytes));
    std::vector<PortfolioRow> members;
    for (auto row : portfolio.members) {
        const auto found = templates.find(row.kernel_template);
        if (found == templates.end() || !is_in_space(*found->second, row.member.configuration)) continue;
        // The text of a portfolio names the template of each member. The predictor tells templates apart by numbers, so
        // each template gets its index in `templates` as its number.
        row.member.kernel_template = std::distance(templates.begin(), found);
        row.member.verified_by = operation_identity(*found->second, like) + "/";
        row.member.classes.assign(classes.begin(), classes.end());
        for (auto& configuration : with_new_values(*found->second, row.member.configuration)) {
            row.member.configuration = std::move(configuration);
            members.push_back(row);
        }
    }
    return Predictor({.members = std::move(members), .damages = {}}, like, device,
                     [&](const TrialRow& row) -> std::shared_ptr<const KernelTemplate> {
                         return {std::shared_ptr<const void>(), templates.find(row.kernel_template)->second};
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
    const auto* const portfolio = most_similar(portfolios_for(problem.operation, device), problem, device, names);
    if (portfolio == nullptr) return {};
    const auto predictor = predictor_of(*portfolio, {&problem, 1}, device, by_name);
    std::map<std::string, std::vector<Configuration>> starts;
    double best_us = 0;
    double last_us = 0;
    for (const auto& prediction : predictor.ranking(problem)) {
        if (best_us == 0) best_us = prediction.us;
        auto& own = starts[prediction.member->kernel_template->name];
        // Variants of a member differ only in the launch. If theirs are equal, too, so are their predicted times.
        if (std::exchange(last_us, prediction.us) == prediction.us) continue;
        if (own.size() < most_of_a_template && prediction.us <= pruning::slow_template * best_us) {
            own.push_back(*prediction.member->configuration);
        }
    }
    return starts;
}

std::vector<Transferred> predicted_fastest(std::span<const Problem> problems, const Device& device,
                                           std::span<const KernelTemplate> templates) {
    TemplatesByName by_name;
    for (const auto& kernel : templates) by_name[kernel.name] = &kernel;
    std::vector<Transferred> fastest;
    if (problems.empty()) return fastest;
    for (const auto& portfolio : portfolios_for(problems.front().operation, device)) {
        if (!is_similar(portfolio, problems.front(), device, by_name)) continue;
        const auto predictor = predictor_of(portfolio, problems, device, by_name);
        Predictor::Scratch scratch;
        for (std::size_t i = 0; i < problems.size(); ++i) {
            predictor.predict(problems[i], scratch);
            if (scratch.predictions.empty()) continue;
            Predictor::put_first(scratch.predictions);
            const auto& first = *scratch.predictions.front().member;
            auto known = std::ranges::find_if(fastest, [&](const Transferred& each) {
                return each.kernel == first.kernel_template.get() && each.configuration == *first.configuration;
            });
            if (known == fastest.end()) {
                fastest.push_back({.kernel = first.kernel_template.get(), .configuration = *first.configuration});
                known = std::prev(fastest.end());
            }
            if (std::ranges::count(known->problems, i) == 0) known->problems.push_back(i);
        }
    }
    for (auto& each : fastest) std::ranges::sort(each.problems);
    std::ranges::stable_sort(fastest, std::ranges::greater{}, [](const auto& each) { return each.problems.size(); });
    return fastest;
}

}  // namespace smemtune
