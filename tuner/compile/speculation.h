// Programs that a search may ask for later, for compilers that would otherwise have nothing to do.
#pragma once

#include <optional>
#include <vector>

#include "tuner/candidates/template_search.h"
#include "tuner/compile/compile_pool.h"

namespace smemtune {

/// The programs of every untried configuration of the templates that are open where `best` is the least cost. Those
/// expected to compile longest come first, so that nobody waits for them at the end. None where the spaces together are
/// so large that few of the programs would be asked for. Templates and problem must outlive the result; searches and
/// device need not.
std::vector<CompilePool::LazyProgram> speculative_programs(const TemplateSearches& searches, std::optional<double> best,
                                                           const Problem& problem, const Device& device);

}  // namespace smemtune
