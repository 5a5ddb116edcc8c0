// A portfolio as a text file, to be kept in the source tree. The text has all that is needed to compile the members
// again, and to check that the compiler gives the same machine code that was verified.
#pragma once

#include <string>
#include <vector>

#include "db/portfolio/portfolio.h"
#include "templates/space/device.h"

namespace smemtune {

struct PortfolioText {
    Device device;  ///< the device on which the members were measured
    std::string operation;
    std::string type;
    std::string layout;                 ///< the layout; empty for an operation without layouts
    std::string target;                 ///< the target of the verified machine code, such as "sm_90a"
    std::string compiler;               ///< the compiler of the verified machine code, as in BinaryRecord
    std::string toolchain{};            ///< compiler and driver of the measurements; empty when unknown
    std::string measured_at{};          ///< date of the last measurement: UTC, ISO 8601; empty when unknown
    std::string commit{};               ///< the commit of smemtune; empty when unknown
    std::vector<PortfolioRow> members;  ///< the members, whose row numbers are 0
};

/// Returns the portfolio as TOML. Two exports of the same portfolio give the same text. The numbers of the time models
/// are rounded to six digits. Throws std::invalid_argument if the portfolio has no members.
std::string to_toml(const PortfolioText& portfolio);

/// Reads text that to_toml() wrote. `path` is used only in messages. Throws ManifestError with the message
/// `FILE:LINE: what is wrong; what to write instead`.
PortfolioText parse_portfolio_text(const std::string& path, const std::string& text);

}  // namespace smemtune
