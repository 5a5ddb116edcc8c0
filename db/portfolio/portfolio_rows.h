// The rows of `portfolio`.
#pragma once

#include "db/portfolio/portfolio.h"
#include "db/query.h"

namespace smemtune {

/// Runs inside the caller's transaction.
void replace_portfolio(Connection& connection, const PortfolioKey& key, const std::vector<PortfolioMember>& members);

/// Selects one row, by its number, for read_portfolio_row.
const std::string& one_portfolio_row();
/// Throws UnreadableRow if the row differs from its hash.
PortfolioRow read_portfolio_row(const SQLite::Statement& row);

}  // namespace smemtune
