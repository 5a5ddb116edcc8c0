// Checks owners and modes of files that hold code for an application.
#pragma once

#include <filesystem>
#include <string>

namespace smemtune {

/// Why others than the effective user and root could change `path`, with owner, mode and remedy; empty if they cannot.
/// They cannot if the path and every folder above it belong to the effective user or root, and nobody else may write
/// any of them. The owner's private group may write, because some systems create every file with such permissions. A
/// folder with the sticky bit, such as /tmp, may be writable by others, because they cannot replace files that are not
/// theirs. Symbolic links are followed: the rule holds for their targets.
std::string why_untrusted(const std::filesystem::path& path);

/// Throws UntrustedFile (runtime.h) if others could change the database, or its journal where there is one.
void require_trusted_database(const std::filesystem::path& database);

/// Throws UntrustedFile if others could change a template in the folder or add one.
void require_trusted_templates(const std::filesystem::path& folder);

}  // namespace smemtune
