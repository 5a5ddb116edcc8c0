// Which configuration to try next. Ask and tell: a search knows nothing of kernels, devices or time.
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
    /// What the configuration costs, in any unit, less being better; nothing when it was rejected, which a number that
    /// is not finite means too. Searches expect ratios of costs to matter; once one is not positive, differences do. In
    /// any order, also of configurations that were not asked for. Searches that do not learn ignore this.
    virtual void observe(const Configuration&, std::optional<double> /*cost*/) {}
};

/// What a search starts from.
struct SearchSetup {
    std::shared_ptr<const ParameterSpace> space;
    unsigned seed = 0;
    /// Tried first, the most promising first: what won elsewhere. Those outside the space are passed over.
    std::vector<Configuration> starts{};
    /// Numbers that say more about a configuration than its parameters do, known before it is tried: threads,
    /// registers, waves. As many for each. May be empty.
    std::function<std::vector<double>(const Configuration&)> features{};
    /// An estimate of the cost, in any unit; it orders and never forbids. May be empty.
    std::function<double(const Configuration&)> estimate{};
};

/// Which of them `auto` stands for: the one that measurement shows best over recorded spaces (docs/search.md).
std::string_view auto_search();
/// The searches by name, for `--search` and its help.
const std::vector<std::string>& search_names();
/// Whether it learns from what it observes: such a search is ended when further gain is unlikely, the others walk
/// through the whole space. Throws like make_search.
bool learns(std::string_view name);
/// Throws std::invalid_argument naming the known ones.
std::unique_ptr<Search> make_search(std::string_view name, SearchSetup setup);

}  // namespace smemtune
