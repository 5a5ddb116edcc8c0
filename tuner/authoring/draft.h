// The first draft of a manifest, from a kernel's source.
#pragma once

#include <string>

namespace smemtune {

/// A manifest for the first kernel of `source`: arguments by their declared types, parameters from the names that
/// decide
/// `#if` and the macros with a default. What is guessed has a comment with TODO. `file_name` is that of the source,
/// `kernel.cu`. Throws std::invalid_argument if the source has no __global__ function.
std::string draft_manifest(const std::string& file_name, const std::string& source);

}  // namespace smemtune
