// The whole content of a database as C++ values. It includes the dates of trials, which Store::remember would replace
// with the present time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/portfolio/portfolio.h"
#include "db/record.h"

namespace smemtune {

struct DatedTrial {
    TrialRecord record;
    std::string finished_at;   ///< when the trial ended: UTC, ISO 8601
    std::string decided_at{};  ///< when the trial was declared the winner; empty if it is not the winner

    bool operator==(const DatedTrial&) const = default;
};

struct StoredPortfolio {
    PortfolioKey key;
    std::vector<PortfolioMember> members;

    bool operator==(const StoredPortfolio&) const = default;
};

/// The keys of the maps are row numbers. Trials, machine code and portfolios refer to these row numbers.
struct DatabaseContent {
    std::map<std::int64_t, Device> devices;
    std::map<std::int64_t, TemplateRecord> templates;
    std::map<std::int64_t, Problem> problems;
    std::map<std::int64_t, RunRow> runs;
    std::vector<DatedTrial> trials;  ///< the trials, in the order in which they were first stored
    std::vector<BinaryRecord> binaries;
    std::vector<StoredPortfolio> portfolios;
    /// The portfolios whose time models have a `terms_version` other than the present one. `portfolios` does not
    /// contain them.
    std::vector<PortfolioKey> outdated_portfolios{};

    bool operator==(const DatabaseContent&) const = default;
};

}  // namespace smemtune
