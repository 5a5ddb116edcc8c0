// Compiles the members of a portfolio from its text. Needs no device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/portfolio/portfolio_text.h"
#include "db/store.h"
#include "runtime/compiler.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct CompiledPortfolio {
    std::size_t stored = 0;               ///< how many members were stored
    std::vector<std::string> left_out{};  ///< the other members, each with its reason: `tiled TILE=16: reason`
};

/// Compiles each member of the portfolio. Stores a member if its machine code is, byte for byte, the code that was
/// verified on the portfolio's device. Leaves out all other members, because they are unverified. Also leaves out a
/// member if its template or operation was edited since the portfolio was measured.
///
/// `compiler` must be for the portfolio's device. Compiles on `jobs` threads. Throws CompilerError, StoreError.
CompiledPortfolio compile_portfolio(const PortfolioText& portfolio, const std::vector<KernelTemplate>& templates,
                                    const Compiler& compiler, std::size_t jobs, Store& store);

}  // namespace smemtune
