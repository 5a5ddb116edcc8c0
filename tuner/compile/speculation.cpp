#include "tuner/compile/speculation.h"

#include <algorithm>

#include "templates/launch/limits.h"

namespace smemtune {

namespace {

// Of small spaces a search tries more than half, and the pool keeps all programs for the problems to come.
constexpr std::size_t most_configurations = 192;

}  // namespace

std::vector<CompilePool::Guess> guesses_of(const std::vector<std::unique_ptr<TemplateSearch>>& lanes,
                                           std::optional<double> best, const Problem& problem, const Device& device) {
    std::size_t configurations = 0;
    for (const auto& lane : lanes) configurations += lane->space().size();
    if (configurations > most_configurations) return {};

    struct Expected {
        std::int64_t registers;  // what is unrolled into many takes long
        CompilePool::Guess program;
    };
    std::vector<Expected> expected;
    for (const auto& lane : lanes) {
        if (!lane->is_open(best)) continue;
        const auto& kernel = lane->kernel_template();
        for (auto& configuration : lane->untried()) {
            try {
                const auto launch = launch_of(kernel, configuration, problem, device);
                if (broken_limit(launch, device)) continue;  // refused before it is compiled
                expected.push_back({launch.registers, [&kernel, &problem, configuration = std::move(configuration)] {
                                        return program_of(kernel, configuration, problem);
                                    }});
            } catch (const ExpressionError&) {  // refused, too
            }
        }
    }
    std::ranges::stable_sort(expected, std::ranges::greater{}, &Expected::registers);
    std::vector<CompilePool::Guess> guesses;
    guesses.reserve(expected.size());
    for (auto& each : expected) guesses.push_back(std::move(each.program));
    return guesses;
}

}  // namespace smemtune
