// Writes generated texts into a folder, for the installation.
#pragma once

#include <filesystem>
#include <string>

namespace smemtune {

/// Replaces `file`; its folders are made. Throws UsageError if it cannot be written.
void write_manual_file(const std::filesystem::path& file, const std::string& text);

}  // namespace smemtune
