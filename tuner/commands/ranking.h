// Ranks the members of a stored portfolio at a size, for `smemtune explain --sizes MxNxK`.
#pragma once

#include "db/store.h"
#include "tuner/cli/command_line.h"

namespace smemtune {

/// Whether the database has a portfolio for the problem that --sizes and the other options describe.
bool has_portfolio(const Store& store, const CommandLine& line);

/// Prints the ranking as text, or as JSON with --json. Returns an ExitCode. Throws UsageError if there is no portfolio.
int explain_ranking(const CommandLine& line);

}  // namespace smemtune
