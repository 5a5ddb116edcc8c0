// Checks a stored portfolio at problems from which it was not built.
#pragma once

#include "tuner/portfolio/build.h"

namespace smemtune {

struct CheckRequest {
    std::vector<Sample> samples;  ///< of one operation, type and layout; preferably not tuned before
    std::vector<KernelTemplate> templates;
    std::size_t searches = 0;      ///< how many of the samples are tuned by a search
    std::size_t evaluations = 64;  ///< how many configurations each search tries
    std::optional<std::chrono::seconds> budget;
    unsigned jobs = 1;  ///< the number of concurrent compiles
    unsigned seed = 0;
    std::string text;  ///< the request as JSON, which the database records
};

/// Checks the portfolio of device_of_portfolio() (runtime/selection.h). Tunes the first `searches` samples. At each
/// sample, times all members and the winner of the nearest tuned problem. Compares the time of the member that the
/// portfolio serves with the shortest time known at the sample; the results are in the report's `served`. The trials
/// and winners of the samples are stored, and a runtime then serves these sizes as `exact`. Use a copy of the database
/// to avoid this.
PortfolioReport check_portfolio(const CheckRequest& request, const TuneResources& resources, Progress& progress);

}  // namespace smemtune
