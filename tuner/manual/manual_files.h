// Writes manual pages and completion scripts into a folder, for the installation.
#pragma once

#include <filesystem>
#include <string>

namespace smemtune {

/// Writes `file`, which may exist, and creates its folders. Throws UsageError if it cannot be written.
void write_manual_file(const std::filesystem::path& file, const std::string& text);

}  // namespace smemtune
