// What a search may ask to be compiled later: for threads that would otherwise have nothing to do.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tuner/compile/compile_pool.h"
#include "tuner/problem/template_search.h"

namespace smemtune {

/// The programs of everything untried in the lanes that are open where `best` is the least cost, those expected to
/// compile longest first, for they are waited for last. Nothing where the lanes' spaces are together so large that few
/// guesses would come true. Templates and problem must outlive what is returned; lanes and device need not.
std::vector<CompilePool::Guess> guesses_of(const std::vector<std::unique_ptr<TemplateSearch>>& lanes,
                                           std::optional<double> best, const Problem& problem, const Device& device);

}  // namespace smemtune
