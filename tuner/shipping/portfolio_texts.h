// The stored portfolios as texts.
#pragma once

#include <string>
#include <vector>

#include "db/portfolio/portfolio_text.h"
#include "db/store.h"

namespace smemtune {

/// The text of every portfolio in the store. `commit`: smemtune's commit; empty when unknown. Throws StoreError if a
/// row is damaged, or if the machine code that a member was verified with is not stored.
std::vector<PortfolioText> portfolio_texts(const Store& store, const std::string& commit);

/// A file name from device, operation, type and layout: `nvidia_h200-gemm-f32-nn.toml`.
std::string file_name(const PortfolioText& portfolio);

}  // namespace smemtune
