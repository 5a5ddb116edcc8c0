// Searches decide which configuration is tried next. Ask and tell: they know nothing of kernels, devices or time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/space/parameter_space.h"

namespace smemtune {

class Search {
public:
    virtual ~Search() = default;
    /// The next configuration, none twice; nothing when the space is used up. May be asked again before a cost is
    /// observed, so that compiling can run ahead.
    virtual std::optional<Configuration> next() = 0;
    /// Tells the cost of a configuration, in any unit, less being better. Nothing, or a number that is not finite,
    /// means that it was rejected. Searches compare costs by their ratios; by their differences once one is not
    /// positive. May be called in any order, also for configurations that were not asked for. Some searches ignore it:
    /// see learns().
    virtual void observe(const Configuration&, std::optional<double> /*cost*/) {}
};

/// The space and everything else that a search starts from.
struct SearchSetup {
    std::shared_ptr<const ParameterSpace> space;
    unsigned seed = 0;
    /// Tried first, in this order: winners of other sizes. Those outside the space are skipped.
    std::vector<Configuration> starts{};
    /// Numbers known of a configuration before it is tried, such as threads, registers and waves. Equally many for
    /// each. May be empty.
    std::function<std::vector<double>(const Configuration&)> features{};
    /// Estimates the cost, in any unit. It orders candidates and excludes none. May be empty.
    std::function<double(const Configuration&)> estimate{};
};

/// The search that `auto` stands for: the best one over recorded spaces (docs/search.md).
std::string_view auto_search();
/// The names of all searches, for `--search` and its help.
const std::vector<std::string>& search_names();
/// Whether the search adapts to the costs it observes. If so, a run ends it when further gain is unlikely; the others
/// enumerate the whole space.
bool learns(std::string_view name);
/// Throws std::invalid_argument, which lists the known names, for an unknown one.
std::unique_ptr<Search> make_search(std::string_view name, SearchSetup setup);

}  // namespace smemtune
