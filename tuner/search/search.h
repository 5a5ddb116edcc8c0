// A search decides which configuration to try next. Callers ask with next() and report costs with observe(). A search
// knows nothing of kernels, devices or time.
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
    /// Returns the next configuration to try, or nothing if the space is used up. Returns no configuration twice.
    /// Callers may call next() several times before they report a cost, so that compiles can run ahead of measurements.
    virtual std::optional<Configuration> next() = 0;
    /// Reports the cost of a configuration in any unit; lower is better. An absent or non-finite cost means that the
    /// configuration was rejected. Some searches use the ratios of costs. If a cost is zero or negative, they use
    /// differences, or only the order of the costs. Reports may come in any order, and may be about configurations that
    /// were not proposed. Some searches ignore reports: see learns().
    virtual void observe(const Configuration&, std::optional<double> /*cost*/) {}
};

/// The input of a search.
struct SearchSetup {
    std::shared_ptr<const ParameterSpace> space;
    unsigned seed = 0;
    /// Start points, such as fast configurations of other sizes. They are tried first, in this order. Start points
    /// outside the space are skipped.
    std::vector<Configuration> starts{};
    /// Returns features of a configuration that are known before it is tried, such as threads, registers and waves.
    /// Each call must return the same number of features. The function may be empty.
    std::function<std::vector<double>(const Configuration&)> features{};
    /// Estimates the cost of a configuration, in any unit. The estimate orders candidates and excludes none. The
    /// function may be empty.
    std::function<double(const Configuration&)> estimate{};
};

/// The name of the search that `auto` selects: the one that did best on recorded spaces (docs/search.md).
std::string_view auto_search();
/// The names of all searches, for `--search` and its help.
const std::vector<std::string>& search_names();
/// Whether the search adapts to observed costs. A tuning run ends such a search when further gain is unlikely. The
/// other searches enumerate the whole space.
bool learns(std::string_view name);
/// Makes the search `name`. Throws std::invalid_argument if the name is unknown. The message lists the known names.
std::unique_ptr<Search> make_search(std::string_view name, SearchSetup setup);

}  // namespace smemtune
