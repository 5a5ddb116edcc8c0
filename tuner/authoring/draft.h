// Writes the first draft of a manifest from a kernel's source.
#pragma once

#include <string>

namespace smemtune {

/// Drafts a manifest for the first kernel of `source`. The declared types give the arguments. The parameters are the
/// names in `#if` conditions, and the macros whose value is a number. A TODO comment marks each guess. `file_name` is
/// the name of the source, such as `kernel.cu`. Throws std::invalid_argument if the source has no __global__ function.
std::string draft_manifest(const std::string& file_name, const std::string& source);

}  // namespace smemtune
