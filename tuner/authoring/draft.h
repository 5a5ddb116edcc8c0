// Writes the first draft of a manifest from a kernel's source.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// Returns the names of the kernels in `source`, in their order, without those named `reference`, `verify` or
/// `prepare`.
std::vector<std::string> kernels_of(const std::string& source);

/// Drafts a manifest for the kernel `kernel` of `source`; by default, for the first one. The declared types give the
/// arguments. The parameters are the names in `#if` conditions, and the macros whose value is a number. A TODO comment
/// marks each guess. `file_name` is the name of the source, such as `kernel.cu`. Throws std::invalid_argument if the
/// source has no such kernel.
std::string draft_manifest(const std::string& file_name, const std::string& source, const std::string& kernel = "");

}  // namespace smemtune
