// Which configuration to try next. Ask and tell: a search knows nothing of kernels, devices or time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/outcome.h"
#include "templates/parameter_space.h"

namespace smemtune {

class Search {
public:
    virtual ~Search() = default;
    /// The next configuration, none twice; nothing when satisfied. May be asked again before an outcome is observed,
    /// so that compiling can run ahead.
    virtual std::optional<Configuration> next() = 0;
    virtual void observe(const Configuration&, const Outcome&) {}  ///< searches that do not learn ignore this
};

/// Every configuration, in the order of the space.
std::unique_ptr<Search> exhaustive(std::shared_ptr<const ParameterSpace> space);

/// Every configuration, in an order drawn from `seed`.
std::unique_ptr<Search> random_search(std::shared_ptr<const ParameterSpace> space, unsigned seed);

/// The searches by name, for `--search` and its help.
const std::vector<std::string>& search_names();
/// Throws std::invalid_argument naming the known ones.
std::unique_ptr<Search> make_search(std::string_view name, std::shared_ptr<const ParameterSpace> space, unsigned seed);

}  // namespace smemtune
