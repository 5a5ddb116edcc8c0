// Checks owners and modes of files with code that an application would run.
#pragma once

#include <filesystem>
#include <string>

namespace smemtune {

/// Returns the reason why users other than the effective user and root could change `path`. The text has the owner, the
/// mode and the remedy. It is empty if the path and every folder above it belong to the effective user or root, and
/// nobody else may write any of them. There are two exceptions. The owner's private group may write, because some
/// systems create every file with such permissions. A folder with the sticky bit, such as /tmp, may be writable by
/// others, because there they cannot replace files of the owner. If `path` is a symbolic link, its target is checked.
std::string why_untrusted(const std::filesystem::path& path);

/// Throws UntrustedFile (runtime.h) if other users could change the database or SQLite's journal beside it.
void require_trusted_database(const std::filesystem::path& database);

/// Throws UntrustedFile if other users could change a file that read_sources() reads in the folder, or add one. Throws
/// what read_sources() throws.
void require_trusted_templates(const std::filesystem::path& folder);

}  // namespace smemtune
