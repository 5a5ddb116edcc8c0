// The request of a tuning run.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "tuner/search/stopping.h"

namespace smemtune {

/// The quantity that a run minimises.
enum class Objective { time, energy };

struct TuneRequest {
    std::vector<Problem> problems;
    std::vector<KernelTemplate> templates;
    std::string search = "auto";
    Objective objective = Objective::time;
    std::optional<std::size_t> evaluations;      ///< limit of evaluations per problem, for all templates together
    std::optional<std::chrono::seconds> budget;  ///< time limit for the whole run
    bool shares_budget = true;                   ///< whether no problem may use the budget of the others
    std::optional<double> roofline;              ///< a problem's search ends at this share of peak arithmetic
    StoppingPolicy stopping;                     ///< when the search of each template stops
    unsigned jobs = 1;                           ///< the number of concurrent compiles
    unsigned seed = 0;
    bool retune = false;  ///< whether to delete the stored trials of these problems and templates first
    std::string text;     ///< the request as JSON, to be stored with the run
};

}  // namespace smemtune
