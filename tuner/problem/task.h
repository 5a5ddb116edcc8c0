// What a worker is given to do.
#pragma once

#include <chrono>
#include <future>
#include <variant>
#include <vector>

#include "tuner/compile/compile_pool.h"
#include "tuner/problem/template_search.h"

namespace smemtune {

/// A configuration to be tried, or, among the finalists, to be measured again.
struct Proposal {
    const TemplateSearch* lane = nullptr;
    Configuration configuration;
    std::shared_future<CompilePool::Result> compiled{};
    bool compiled_before = false;  ///< for another problem or run-time argument

    [[nodiscard]] bool is_compiled() const {
        return compiled.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    /// The machine code; null when the compiler refused. Waits for the compiler.
    [[nodiscard]] const Binary* binary() const { return std::get_if<Binary>(&compiled.get()); }
};

struct TrialTask {
    Proposal candidate;
};

/// Candidates to measure in turn.
struct FinalTask {
    enum class Purpose {
        decide,   ///< finalists, against one another
        compare,  ///< the winner and the baseline
        energy,   ///< the winner alone
    };
    Purpose purpose = Purpose::decide;
    std::vector<Proposal> candidates{};
    int rounds = 0;
    std::vector<std::size_t> players{};  ///< who the candidates are, in the playoff
};

using Task = std::variant<TrialTask, FinalTask>;

}  // namespace smemtune
