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

/// How the time of a problem was spent, in seconds.
struct Effort {
    double compile = 0;  ///< compiling, summed over all compiler threads
    double verify = 0;   ///< verifying candidates, summed over all workers
    double time = 0;     ///< timing candidates, summed over all workers
    double finals = 0;   ///< measuring the finalists
    double wait = 0;     ///< seconds that workers waited for a compiler
    double total = 0;    ///< from the first proposal to the winner
};

/// How a worker's time was spent, in seconds.
struct WorkerTime {
    std::string device;
    double start = 0;    ///< starting the process, including opening the device
    double prepare = 0;  ///< preparing problems: operands and references
    double trials = 0;
    double finals = 0;
    double compiler = 0;  ///< waiting for the compiler, with no other work
    double idle = 0;      ///< waiting for other workers
};

struct ProblemResult {
    struct Best {
        std::string kernel_template;
        Configuration configuration;
        Configuration defaults;  ///< the default configuration of the template
        Measurement measurement;
        Resources resources;
    };
    Problem problem;
    double operations = 0;                  ///< number of arithmetic operations of one launch
    std::optional<Best> best;               ///< the winner among all requested templates
    std::optional<double> baseline_us;      ///< best time of the operation's baseline template
    std::map<std::string, double> best_us;  ///< the best time of each template, by its name
    std::size_t valid = 0;                  ///< how many valid configurations all templates have
    /// If `valid` is 0: for each template, by its name, why its default configuration is not valid.
    std::map<std::string, std::string> invalid{};
    std::size_t evaluations = 0;  ///< number of evaluations of this run and of earlier runs
    std::string ended;            ///< why the search ended
    bool unchecked = false;       ///< the operation has no reference, so a wrong kernel may have won
    Effort effort;
};

struct TuneReport {
    Device device;
    std::size_t devices = 1;  ///< how many equal devices shared the work
    std::string search;       ///< the search's name; for `auto`, the name of the search that `auto` stands for
    std::vector<ProblemResult> problems;
    std::vector<WorkerTime> workers;
    std::size_t planned = 0, recalled = 0, measured = 0;
    std::size_t verified_again = 0;  ///< how many stored measurements with another verification identity were verified
    std::size_t retried = 0;         ///< how many stored crashes and timeouts were tried again
    std::size_t same_code = 0;       ///< how many measured candidates had the machine code of another configuration
    std::map<Stage, std::size_t> rejected{};                ///< rejections of this run: the number for each stage
    std::map<std::string, std::size_t> reasons{};           ///< rejections of this run: the number for each full reason
    std::map<std::string, std::size_t> recalled_reasons{};  ///< the same for stored rejections, which were not retried
    /// The number of configurations that were never tried because they exceed the device's limits, by template and
    /// limit.
    std::map<std::string, std::uint64_t> left_out{};
    std::size_t unprepared = 0;      ///< how many sizes were not prepared in time, because the budget was spent
    std::size_t unfinished = 0;      ///< how many trials were stopped when the budget was spent; they are not stored
    std::string ended = "complete";  ///< why the run ended: "complete", "interrupted" or "budget"
    double seconds = 0;
};

}  // namespace smemtune
