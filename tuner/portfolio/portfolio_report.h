// The results of `smemtune portfolio` as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/portfolio/build.h"

namespace smemtune {

/// A table of the expected loss at problems that were left out, by kind of problem. It compares four rules: the member
/// that the models choose, the best member, the nearest sample's winner, and the first member alone.
std::string to_text(const PortfolioReport& report, std::size_t width);
nlohmann::json to_json(const PortfolioReport& report);

}  // namespace smemtune
