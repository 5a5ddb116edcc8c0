// Merges databases of several machines into a new one.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "db/merge/merge.h"
#include "db/store.h"

namespace smemtune {

/// Reads each file in one transaction, merges their contents by the rules of db/merge/merge.h, and fills `to`. Files of
/// older schemas are read as if they were migrated, but no file is changed. Returns nothing if `is_interrupted`
/// returned true before the end. Throws StoreError if a file cannot be read or has a damaged row.
std::optional<MergedContent> merge_databases(const std::vector<std::filesystem::path>& files, Store& to,
                                             const std::function<bool()>& is_interrupted);

}  // namespace smemtune
