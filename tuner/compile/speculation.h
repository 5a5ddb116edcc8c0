// Chooses programs to compile ahead, because a search may ask for them later. Only threads that would otherwise be idle
// compile them.
#pragma once

#include <optional>
#include <vector>

#include "tuner/candidates/template_search.h"
#include "tuner/compile/compile_pool.h"

namespace smemtune {

/// Returns the programs of all untried configurations of the templates for which another proposal is worthwhile. `best`
/// is the least cost over all templates. The longest expected compiles come first, so that they are not the last to
/// end. Returns nothing if the spaces are so large that few of the programs would be used. Templates and problem must
/// outlive the result, but searches and device need not.
std::vector<CompilePool::LazyProgram> speculative_programs(const TemplateSearches& searches, std::optional<double> best,
                                                           const Problem& problem, const Device& device);

}  // namespace smemtune
