// A portfolio as text, to be kept beside the sources. It holds what is needed to compile its members again and to check
// that the result is the machine code that was verified.
#pragma once

#include <string>
#include <vector>

#include "db/portfolio/portfolio.h"
#include "templates/space/device.h"

namespace smemtune {

struct PortfolioText {
    Device device;  ///< that it was measured on
    std::string operation;
    std::string type;
    std::string layout;                 ///< empty for an operation without layouts
    std::string target;                 ///< of the machine code that was verified: "sm_90a"
    std::string compiler;               ///< of that machine code, as in BinaryRecord
    std::string toolchain{};            ///< compiler and driver of the measurements; empty when unknown
    std::string measured_at{};          ///< the last measurement, UTC, ISO 8601; empty when unknown
    std::string commit{};               ///< of smemtune; empty when unknown
    std::vector<PortfolioRow> members;  ///< without row numbers
};

/// TOML. Two exports of the same portfolio give the same text. Numbers of the models have six digits. Throws
/// std::invalid_argument if the portfolio has no members.
std::string to_toml(const PortfolioText& portfolio);

/// Reads the text of to_toml(). `path` is for messages. Throws ManifestError: `FILE:LINE: what is wrong; what to write
/// instead`.
PortfolioText parse_portfolio_text(const std::string& path, const std::string& text);

}  // namespace smemtune
