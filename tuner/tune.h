// The coordinator: every configuration that a search proposes is compiled, tried by a worker, and stored.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/backend.h"
#include "tuner/worker.h"

namespace smemtune {

class Progress;

struct TuneRequest {
    std::vector<Problem> problems;
    std::vector<KernelTemplate> templates;
    std::string search = "exhaustive";
    std::optional<std::size_t> evaluations;      ///< per problem and template
    std::optional<std::chrono::seconds> budget;  ///< for the whole run
    unsigned jobs = 1;                           ///< compiles at once
    unsigned seed = 0;
    bool retune = false;  ///< forget what is known about these problems and templates
    std::string text;     ///< JSON, for the record
};

/// A template's space on one problem.
struct PlannedSpace {
    const KernelTemplate* kernel_template = nullptr;
    std::shared_ptr<const ParameterSpace> space;
};

struct ProblemResult {
    struct Best {
        std::string kernel_template;
        Configuration configuration;
        Measurement measurement;
        Resources resources;
    };
    Problem problem;
    double operations = 0;                  ///< of one launch
    std::optional<Best> best;               ///< over the requested templates
    std::optional<double> baseline_us;      ///< best time of the operation's baseline template
    std::map<std::string, double> best_us;  ///< by template
};

struct TuneReport {
    Device device;
    std::vector<ProblemResult> problems;
    std::size_t planned = 0, recalled = 0, measured = 0;
    std::map<Stage, std::size_t> rejected;       ///< in this run
    std::map<std::string, std::size_t> reasons;  ///< of them, with an example each
    /// Never tried, for they ask for more than the device holds; by template and limit.
    std::map<std::string, std::uint64_t> left_out;
    std::string ended = "complete";  ///< or "interrupted", "budget"
    double seconds = 0;
};

/// Lays out the spaces: problem by problem, for each the templates that support it, the most promising first. Throws
/// std::invalid_argument when none does.
std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device);

/// Everything that a run stands on.
struct Tools {
    const Device& device;
    const Compiler& compiler;
    Store& store;
    Worker& worker;
    const SamplingPolicy& sampling;
    const std::atomic<bool>& interrupted;
};

TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces, Tools tools,
                Progress& progress);

}  // namespace smemtune
