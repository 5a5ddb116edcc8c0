// Loads all templates: the built-in ones and those of a user's folder.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// A manifest that cannot be used. The message has the form `gemm/tiled.toml:12: what is wrong; what to write instead`.
class ManifestError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The files under `templates/`, as they were when the program was built.
const SourceTree& builtin_sources();

/// The .toml, .cu and .h files under `folder`. Throws ManifestError when it cannot be read or has no manifest.
SourceTree read_sources(const std::filesystem::path& folder);

/// All kernels of `tree`, sorted by operation and name. `library` supplies the operations and shared headers that the
/// tree lacks. Throws ManifestError.
std::vector<KernelTemplate> load_templates(const SourceTree& tree, const SourceTree& library = builtin_sources());

/// The kernels of builtin_sources(), loaded by the first call.
const std::vector<KernelTemplate>& builtin_templates();

/// Identifies what the operation of a kernel computes and how it is verified: arguments, terms, checks, the layout's
/// constants, and the text of the reference with its includes. Summaries and comments in the manifest do not count.
std::string operation_identity(const KernelTemplate& kernel_template, const Problem& problem);
/// Whether `identity`, or the identity that it begins with, is that of an operation without a reference (`reference =
/// "none"`).
bool is_unchecked(std::string_view identity);

/// Loads the one kernel of a tree that came from KernelTemplate::files. With the hash that it was stored under, it
/// compiles as it did then. Throws ManifestError.
KernelTemplate load_template(const SourceTree& files, const std::string& stored_hash = {});

}  // namespace smemtune
