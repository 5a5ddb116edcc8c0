// The question that a tuning run answers.
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
    std::optional<std::size_t> evaluations;      ///< per problem, over all templates
    std::optional<std::chrono::seconds> budget;  ///< for the whole run
    std::optional<double> roofline;              ///< a problem is good enough at this share of the device's peak
    StoppingPolicy stopping;                     ///< of a template's search
    unsigned jobs = 1;                           ///< compiles at once
    unsigned seed = 0;
    bool retune = false;  ///< forget what is known about these problems and templates
    std::string text;     ///< JSON, for the record
};

}  // namespace smemtune
