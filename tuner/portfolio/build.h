// Builds the portfolio of one operation, type and layout on a device.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tuner/portfolio/measure.h"
#include "tuner/portfolio/model/cross_check.h"

namespace smemtune {

struct PortfolioRequest {
    std::vector<Sample> samples;  ///< of one operation, type and layout
    std::vector<KernelTemplate> templates;
    std::size_t size = 64;         ///< the most members
    std::size_t evaluations = 48;  ///< configurations tried for each sample before cross-timing
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
        double best_us = 0;  ///< the best of all times measured there
        LeftOut left_out;
        bool searched = false;    ///< in a check of a stored portfolio: whether a search tuned this sample
        double predicted_us = 0;  ///< in a check of a stored portfolio: of the served member
    };
    Device device;
    std::vector<Member> members;
    std::vector<Served> served;      ///< the losses at each sample when it is left out
    std::size_t configurations = 0;  ///< number that were timed at every sample
    MeasureCounts counts;
    std::size_t wrong = 0;  ///< chosen members that failed verification
    double tune_seconds = 0, cross_seconds = 0, verify_seconds = 0, seconds = 0;
    std::string ended = "complete";  ///< or "budget", "interrupted": then nothing is stored
};

/// Builds and stores a portfolio in these steps:
/// 1. tune the samples that have no winner yet, each from its neighbours' winners;
/// 2. time all winners at all samples;
/// 3. choose the members, fit their models, and check both on samples that were left out;
/// 4. verify each member for each class of problems.
/// A later run repeats nothing that was stored. A budget ends steps 1 and 2 early; the portfolio is then built from the
/// times that are known.
PortfolioReport build_portfolio(const PortfolioRequest& request, const TuneResources& resources, Progress& progress);

}  // namespace smemtune
