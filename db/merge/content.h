// A whole database as values, with the dates that Store::remember would set anew.
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
    std::string finished_at;   ///< UTC, ISO 8601
    std::string decided_at{};  ///< when it was declared the winner; empty if it is none

    bool operator==(const DatedTrial&) const = default;
};

struct StoredPortfolio {
    PortfolioKey key;
    std::vector<PortfolioMember> members;

    bool operator==(const StoredPortfolio&) const = default;
};

/// The numbers are those of the rows.
struct DatabaseContent {
    std::map<std::int64_t, Device> devices;
    std::map<std::int64_t, TemplateRecord> templates;
    std::map<std::int64_t, Problem> problems;
    std::map<std::int64_t, RunRow> runs;
    std::vector<DatedTrial> trials;  ///< in the order in which they were first stored
    std::vector<BinaryRecord> binaries;
    std::vector<StoredPortfolio> portfolios;
    /// Portfolios whose models have another version of the terms. They are not in `portfolios`.
    std::vector<PortfolioKey> outdated_portfolios{};

    bool operator==(const DatabaseContent&) const = default;
};

}  // namespace smemtune
