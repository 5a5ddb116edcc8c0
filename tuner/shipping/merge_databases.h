// Merges databases of several machines into a new one.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "db/merge/merge.h"
#include "db/store.h"

namespace smemtune {

/// Reads every file, each at one moment, merges them by the rule of db/merge/merge.h, and fills `to`. Files of older
/// schemas are read as if they were migrated; no file changes. Throws StoreError if a file cannot be read or has a
/// damaged row. Returns nothing if `is_interrupted` returned true before the end.
std::optional<MergedContent> merge_databases(const std::vector<std::filesystem::path>& files, Store& to,
                                             const std::function<bool()>& is_interrupted);

}  // namespace smemtune
