// A tuning run: what is asked, how it is laid out, what came of it.
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
#include "tuner/search/stopping.h"
#include "tuner/worker/worker.h"

namespace smemtune {

class Progress;

/// What makes one candidate better than another.
enum class Objective { time, energy };

struct TuneRequest {
    std::vector<Problem> problems;
    std::vector<KernelTemplate> templates;
    std::string search = "auto";
    Objective objective = Objective::time;
    std::optional<std::size_t> evaluations;      ///< per problem, over all templates
    std::optional<std::chrono::seconds> budget;  ///< for the whole run
    std::optional<double> roofline;              ///< a problem is good enough at this share of the device's peak
    StoppingPolicy stopping;                     ///< of a template's search
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

/// Where the time went, in seconds.
struct Effort {
    double compile = 0;  ///< over all threads
    double verify = 0;   ///< in workers, like the next
    double time = 0;
    double finals = 0;  ///< measuring the finalists in turn
    double wait = 0;    ///< workers that waited for a compiler
    double total = 0;   ///< from the first proposal to the winner
};

/// Where a worker's time went, in seconds.
struct WorkerTime {
    std::string device;
    double start = 0;   ///< of the process and its hold on the device
    double layout = 0;  ///< of problems: operands and references
    double trials = 0;
    double finals = 0;
    double compiler = 0;  ///< waiting for it with nothing else to do
    double idle = 0;      ///< nothing to do until another worker is done
};

struct ProblemResult {
    struct Best {
        std::string kernel_template;
        Configuration configuration;
        Configuration defaults;  ///< of the template
        Measurement measurement;
        Resources resources;
    };
    Problem problem;
    double operations = 0;                  ///< of one launch
    std::optional<Best> best;               ///< over the requested templates
    std::optional<double> baseline_us;      ///< best time of the operation's baseline template
    std::map<std::string, double> best_us;  ///< by template
    std::size_t valid = 0;                  ///< configurations of all templates
    std::size_t evaluations = 0;            ///< in this run and before
    std::string ended;                      ///< why no more were tried
    Effort effort;
};

struct TuneReport {
    Device device;
    std::size_t devices = 1;  ///< equal ones that shared the work
    std::string search;       ///< the strategy behind `auto`
    std::vector<ProblemResult> problems;
    std::vector<WorkerTime> workers;
    std::size_t planned = 0, recalled = 0, measured = 0;
    std::size_t same_code = 0;                     ///< of the measured: had the machine code of another one
    std::map<Stage, std::size_t> rejected{};       ///< in this run
    std::map<std::string, std::size_t> reasons{};  ///< of them, in full
    /// Never tried, for they ask for more than the device holds; by template and limit.
    std::map<std::string, std::uint64_t> left_out{};
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
    std::vector<Worker*> workers;  ///< of equal devices; one that is lost is done without, unless it is the last
    const SamplingPolicy& sampling;
    const std::atomic<bool>& interrupted;
};

/// Throws WorkerError when the last worker is lost.
TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
                Progress& progress);

}  // namespace smemtune
