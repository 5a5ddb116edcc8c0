// The results of a tuning run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/outcome.h"
#include "templates/space/configuration.h"
#include "templates/space/device.h"
#include "templates/space/problem.h"

namespace smemtune {

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
    double start = 0;   ///< starting the process, which opens the device
    double layout = 0;  ///< preparing problems: operands and references
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
    /// Configurations that were never tried because they need more than the device has; by template and limit.
    std::map<std::string, std::uint64_t> left_out{};
    std::string ended = "complete";  ///< or "interrupted", "budget"
    double seconds = 0;
};

}  // namespace smemtune
