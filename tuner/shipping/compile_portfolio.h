// Compiles the members of a portfolio that is kept as text. No device is needed.
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
    std::size_t stored = 0;               ///< members
    std::vector<std::string> left_out{};  ///< why each other member is not stored: `tiled TILE=16: reason`
};

/// Compiles each member and stores those whose machine code is, byte for byte, the code that was verified on the
/// portfolio's device. Other members are unverified and left out. A member is also left out if its template or
/// operation differs from the one in `templates`. `compiler` must be for the portfolio's device. Compiles on `jobs`
/// threads. Throws CompilerError, StoreError.
CompiledPortfolio compile_portfolio(const PortfolioText& portfolio, const std::vector<KernelTemplate>& templates,
                                    const Compiler& compiler, std::size_t jobs, Store& store);

}  // namespace smemtune
