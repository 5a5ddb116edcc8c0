// The results of `smemtune portfolio` as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/portfolio/build.h"

namespace smemtune {

/// The expected loss at problems that were left out, by kind of problem: of the member that the models choose, of the
/// best member, of the nearest sample's winner, and of the first member alone.
std::string to_text(const PortfolioReport& report, std::size_t width);
nlohmann::json to_json(const PortfolioReport& report);

}  // namespace smemtune
