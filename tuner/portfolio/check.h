// Checks a stored portfolio at problems that it was not built from.
#pragma once

#include "tuner/portfolio/build.h"

namespace smemtune {

struct CheckRequest {
    std::vector<Sample> samples;  ///< of one operation, type and layout; none of them should have been tuned
    std::vector<KernelTemplate> templates;
    std::size_t searches = 0;      ///< how many of the samples are also searched
    std::size_t evaluations = 64;  ///< configurations tried in each search
    std::optional<std::chrono::seconds> budget;
    unsigned jobs = 1;  ///< concurrent compiles
    unsigned seed = 0;
    std::string text;  ///< JSON, for the record
};

/// Searches the first `searches` samples, times all members and the winner of the nearest tuned problem at each sample,
/// and compares what would be served with the fastest time known there. Stores trials and winners of these samples, so
/// the database then serves them as `exact`. Check a copy of the database instead. The report's `served` has the
/// results.
PortfolioReport check_portfolio(const CheckRequest& request, const TuneResources& resources, Progress& progress);

}  // namespace smemtune
