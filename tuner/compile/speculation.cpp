#include "tuner/compile/speculation.h"

#include <algorithm>

#include "templates/launch/limits.h"

namespace smemtune {

namespace {

// If the spaces of a problem together have more configurations than this, none is compiled speculatively. If they have
// fewer, few compiles are wasted: a search tries more than half of the configurations, and later problems use the
// programs, too.
constexpr std::size_t most_configurations = 192;

}  // namespace

std::vector<CompilePool::LazyProgram> speculative_programs(const TemplateSearches& searches, std::optional<double> best,
                                                           const Problem& problem, const Device& device) {
    std::size_t configurations = 0;
    for (const auto& search : searches) configurations += search->space().size();
    if (configurations > most_configurations) return {};

    struct Expected {
        std::int64_t registers;  // a measure of compile time: unrolled loops use more registers and compile more slowly
        CompilePool::LazyProgram program;
    };
    std::vector<Expected> expected;
    for (const auto& search : searches) {
        if (!search->may_propose(best)) continue;
        const auto& kernel = search->kernel_template();
        for (auto& configuration : search->untried()) {
            try {
                const auto launch = launch_of(kernel, configuration, problem, device);
                if (broken_limit(launch, device)) continue;  // this configuration would be rejected without a compile
                expected.push_back({launch.registers, [&kernel, &problem, configuration = std::move(configuration)] {
                                        return program_of(kernel, configuration, problem);
                                    }});
            } catch (const ExpressionError&) {  // a configuration without a valid launch would be rejected
            }
        }
    }
    std::ranges::stable_sort(expected, std::ranges::greater{}, &Expected::registers);
    std::vector<CompilePool::LazyProgram> programs;
    programs.reserve(expected.size());
    for (auto& each : expected) programs.push_back(std::move(each.program));
    return programs;
}

}  // namespace smemtune
