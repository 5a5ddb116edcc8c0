// The results of `smemtune portfolio` as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/portfolio/build.h"

namespace smemtune {

/// A table of the expected loss at problems that were left out, with a row for each kind of problem and a column for
/// each rule. Each rule chooses a configuration: the member that the models predict to be the fastest, the member
/// that is the fastest, the winner of the nearest sample, or always the first member. After a refit, the table has a
/// fifth rule: the models choose among the present members.
std::string to_text(const PortfolioReport& report, std::size_t width);
nlohmann::json to_json(const PortfolioReport& report);

}  // namespace smemtune
