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
    std::vector<Sample> samples;  ///< all of one operation, type and layout
    std::vector<KernelTemplate> templates;
    std::size_t size = 64;                ///< the largest number of members
    std::size_t evaluations = 48;         ///< how many configurations tuning tries for each sample
    std::optional<std::size_t> searches;  ///< the largest number of samples that this run tunes
    std::optional<std::chrono::seconds> budget;
    unsigned jobs = 1;  ///< the number of concurrent compiles
    unsigned seed = 0;
    std::string text;  ///< the request as JSON, which the database records
};

struct PortfolioReport {
    struct Member {
        std::string kernel_template;
        Configuration configuration;
        Configuration defaults;  ///< the template's default configuration
        TimeModel model;
        std::vector<std::string> classes;
    };
    struct Served {
        Sample sample;
        std::string kind;    ///< the kind of the problem, from kind_of()
        double best_us = 0;  ///< the shortest time measured at the sample
        LeftOut left_out;
        bool searched = false;    ///< whether a search tuned this sample; false in refit_portfolios()
        bool has_loss = true;     ///< false in build_portfolio() if only some promising configurations were timed here
        double predicted_us = 0;  ///< in check_portfolio(): the time that the models predict for the served member
    };
    Device device;
    std::optional<Device> measured_on{};  ///< in check_portfolio(): the device whose portfolio was checked
    std::vector<Member> members;
    std::vector<Served> served;      ///< of each sample: the losses of portfolios that were built without the sample
    std::size_t configurations = 0;  ///< how many configurations may become members
    std::string invalid{};           ///< why the first sample without a valid configuration has none
    MeasureCounts counts;
    std::size_t wrong = 0;  ///< how many chosen members were left out: wrong, not verified, or not compiled
    double tune_seconds = 0, cross_seconds = 0, verify_seconds = 0, seconds = 0;
    std::string ended = "complete";  ///< "complete", "budget", or "interrupted"; an interrupted run stores no portfolio
};

/// Builds and stores a portfolio in these steps:
/// 1. tune samples that have no winner yet;
/// 2. time configurations: the fastest of each sample, members of portfolios, and the fastest of other stored problems.
///    Each is timed near the samples where it was found, and where it is predicted to be fast;
/// 3. choose the members, fit their models, and estimate the loss by cross-validation over the samples;
/// 4. verify each member for each class of problems, and at the sample where it needs the most workspace.
/// A later run does not repeat trials that are stored. A budget ends steps 1 and 2 early; the portfolio is then built
/// from the times that are known.
PortfolioReport build_portfolio(const PortfolioRequest& request, const TuneResources& resources, Progress& progress);

}  // namespace smemtune
