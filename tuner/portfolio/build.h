// Builds the portfolio of one operation, type and layout on a device.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tuner/portfolio/cross_check.h"
#include "tuner/portfolio/measure.h"

namespace smemtune {

struct PortfolioRequest {
    std::vector<Sample> samples;  ///< of one operation, type and layout
    std::vector<KernelTemplate> templates;
    std::size_t size = 32;         ///< the most members
    std::size_t evaluations = 64;  ///< configurations tried for each sample before cross-timing
    std::optional<std::chrono::seconds> budget;
    unsigned jobs = 1;  ///< concurrent compiles
    unsigned seed = 0;
    std::string text;  ///< JSON, for the record
};

struct PortfolioReport {
    struct Member {
        std::string kernel_template;
        Configuration configuration;
        Configuration defaults;  ///< of the template
        TimeModel model;
        std::vector<std::string> classes;
    };
    struct Served {
        Sample sample;
        std::string kind;    ///< kind_of
        double best_us = 0;  ///< of everything that was timed there
        LeftOut left_out;
    };
    Device device;
    std::vector<Member> members;
    std::vector<Served> served;      ///< what is lost at each sample when it is left out
    std::size_t configurations = 0;  ///< that were timed at every sample
    MeasureCounts counts;
    std::size_t wrong = 0;  ///< chosen ones that failed verification
    double tune_seconds = 0, cross_seconds = 0, seconds = 0;
    std::string ended = "complete";  ///< or "budget", "interrupted": then nothing is stored
};

/// Tunes the samples that have no winner yet, each from its neighbours' winners; times all winners at all samples;
/// chooses the members, fits their models, checks both on samples left out; verifies each member for each class of
/// problems; and stores the portfolio. A later run repeats nothing that was stored. A budget ends tuning and
/// cross-timing early, and the portfolio is built from what is known then.
PortfolioReport build_portfolio(const PortfolioRequest& request, const TuneResources& resources, Progress& progress);

}  // namespace smemtune
