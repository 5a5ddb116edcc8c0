// Prints the ranking of a stored portfolio's members at a size: `smemtune explain --sizes MxNxK`.
#pragma once

#include "db/store.h"
#include "tuner/cli/command_line.h"

namespace smemtune {

/// Whether the database holds a portfolio for --sizes.
bool has_portfolio(const Store& store, const CommandLine& line);

/// Prints the ranking, as JSON if that is asked for. Returns an ExitCode. Throws UsageError if there is no portfolio.
int explain_ranking(const CommandLine& line);

}  // namespace smemtune
