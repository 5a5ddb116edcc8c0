// Writes the stored portfolios as texts.
#pragma once

#include <string>
#include <vector>

#include "db/portfolio/portfolio_text.h"
#include "db/store.h"

namespace smemtune {

/// Returns the text of every portfolio in the store. `commit` is smemtune's commit, or empty if unknown. Throws
/// StoreError if a row is damaged, if a member's verified machine code is not stored, or if different compilers made
/// the machine code of a portfolio's members.
std::vector<PortfolioText> portfolio_texts(const Store& store, const std::string& commit);

/// Returns a file name made of device, operation, type and layout, such as `nvidia_h200-gemm-f32-nn.toml`.
std::string file_name(const PortfolioText& portfolio);

}  // namespace smemtune
