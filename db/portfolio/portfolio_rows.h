// Writes and reads the rows of the table `portfolio`.
#pragma once

#include "db/portfolio/portfolio.h"
#include "db/query.h"

namespace smemtune {

/// Replaces the members of a stored portfolio. Runs inside the caller's transaction.
void replace_portfolio(Connection& connection, const PortfolioKey& key, const std::vector<PortfolioMember>& members);

/// Returns the SQL that selects one row, by its row number, for read_portfolio_row.
const std::string& one_portfolio_row();
/// Throws UnreadableRow if the row differs from its hash, or if a column cannot be parsed.
PortfolioRow read_portfolio_row(const SQLite::Statement& row);

}  // namespace smemtune
