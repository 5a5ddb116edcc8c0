#include "tuner/portfolio/verify.h"

#include <algorithm>
#include <map>

#include "tuner/portfolio/model/class_problem.h"
#include "tuner/report/progress.h"
#include "tuner/report/text.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

// Returns all classes of problems with `extents` extents: 2^extents texts such as `110` (see problem_class()).
std::vector<std::string> all_classes(std::size_t extents) {
    std::vector<std::string> classes{""};
    for (std::size_t i = 0; i < extents; ++i) {
        std::vector<std::string> longer;
        for (const auto& each : classes) {
            longer.push_back(each + '0');
            longer.push_back(each + '1');
        }
        classes = std::move(longer);
    }
    return classes;
}

// For each problem, the indices of the entries to verify there.
using VerificationPlan = std::map<Problem, std::vector<std::size_t>>;

// Returns the sample at which the entry needs the most workspace; nothing if it needs none. At this sample, a split-K
// kernel adds up more parts of K than at the small problems at which classes are verified.
const Problem* sample_of_most_workspace(const Entry& entry, const std::vector<Problem>& samples) {
    const Problem* found = nullptr;
    double most = 0;
    for (const auto& sample : samples) {
        const auto terms = entry.bound.terms(sample);
        const auto workspace = terms ? (*terms)[static_cast<std::size_t>(Term::workspace)] : 0;
        if (workspace <= most) continue;
        most = workspace;
        found = &sample;
    }
    return found;
}

VerificationPlan plan_verification(const MeasureContext& context, const std::vector<std::size_t>& members) {
    require_few_classes(context.entries.front().kernel->operation);
    std::vector<Problem> samples;
    for (const auto& sample : context.source.samples) samples.push_back(sample.problem);
    const auto element_bytes = element_type(samples.front().type).bytes;
    // The limit of the extents at which members are verified. It is large enough for several tiles.
    const auto limit = context.source.resources.device.is_host() ? 32 : 256;
    VerificationPlan plan;
    for (const auto& wanted : all_classes(samples.front().extents.size())) {
        for (const auto member : members) {
            const auto is_valid = [&](const Problem& problem) {
                return context.entries[member].bound.terms(problem).has_value();
            };
            if (const auto problem = class_problem(samples, wanted, element_bytes, limit, is_valid)) {
                plan[*problem].push_back(member);
            }
        }
    }
    for (const auto member : members) {
        const auto* sample = sample_of_most_workspace(context.entries[member], samples);
        if (sample != nullptr && std::ranges::count(plan[*sample], member) == 0) plan[*sample].push_back(member);
    }
    return plan;
}

}  // namespace

std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress) {
    std::vector<std::set<std::string>> classes(context.entries.size());
    if (members.empty()) return {};
    const auto plan = plan_verification(context, members);
    const auto element_bytes = element_type(context.source.samples.front().problem.type).bytes;
    std::vector<Problem> problems;
    for (const auto& [problem, ignored] : plan) problems.push_back(problem);
    std::ranges::stable_sort(problems, std::ranges::greater{},
                             [&](const Problem& problem) { return plan.at(problem).size(); });
    std::set<std::size_t> wrong;
    std::mutex mutex;
    on_workers(context, problems, [&](Worker& worker, std::size_t i) {
        for (const auto member : plan.at(problems[i])) {
            if (context.is_over()) return;
            const auto report = worker.verify(input_of(context, context.entries[member], problems[i]));
            progress.step(size_text(problems[i]), {}, false);
            const std::scoped_lock lock(mutex);
            if (report.verified) {
                classes[member].insert(problem_class(problems[i], element_bytes));
            } else {
                wrong.insert(member);
                const auto problem_row = context.source.resources.store.remember(problems[i]);
                store_trial(context, context.entries[member], problem_row, report);
            }
        }
    });
    for (const auto member : wrong) classes[member].clear();
    std::vector<std::set<std::string>> result;
    result.reserve(members.size());
    for (const auto member : members) result.push_back(classes[member]);
    return result;
}

}  // namespace smemtune
