// A configuration of a template, proposed for a trial.
#pragma once

#include <chrono>
#include <future>
#include <variant>

#include "tuner/candidates/template_search.h"
#include "tuner/compile/compile_pool.h"
#include "tuner/trial/trial.h"

namespace smemtune {

struct TemplateConfiguration {
    TemplateSearch* search = nullptr;
    Configuration configuration;
};

/// A candidate that was submitted to the compiler.
struct Proposal {
    TemplateSearch* search = nullptr;
    Configuration configuration;
    std::shared_future<CompilePool::Result> compiled{};
    bool compiled_before = false;  ///< the program was compiled before, for another problem or other run-time arguments

    [[nodiscard]] bool is_compiled() const {
        return compiled.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    /// The machine code; null if the program does not compile. Waits for the compiler.
    [[nodiscard]] const Binary* binary() const { return std::get_if<Binary>(&compiled.get()); }
    /// The machine code with its launch, in which the compiler's figures replace the manifest's estimates.
    /// Precondition: binary() is not null.
    [[nodiscard]] TrialInput input(const Problem& problem, const Device& device) const {
        return trial_input(search->kernel_template(), configuration, problem, device, *binary());
    }
};

}  // namespace smemtune
