// The templates there are: those built into the program, and those of a user's folder.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// A manifest that cannot be used: `gemm/tiled.toml:12: what is wrong; what to write instead`.
class ManifestError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The files under `templates/`, as they were when the program was built.
const SourceTree& builtin_sources();

/// The .toml, .cu and .h files under `folder`. Throws ManifestError when it cannot be read or has no manifest.
SourceTree read_sources(const std::filesystem::path& folder);

/// Every kernel of `tree`, sorted by operation and name. Operations and shared headers that it does not hold itself are
/// taken from `library`. Throws ManifestError.
std::vector<KernelTemplate> load_templates(const SourceTree& tree, const SourceTree& library = builtin_sources());

/// The one kernel of a tree that came from KernelTemplate::files. Throws ManifestError.
KernelTemplate load_template(const SourceTree& files);

}  // namespace smemtune
