// Loads all templates: the built-in ones and those of a user's folder.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Thrown for a manifest that cannot be used. The message has the form
/// `gemm/tiled.toml:12: what is wrong; what to write instead`.
class ManifestError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns the built-in manifests, sources and headers, as they were when the program was built.
const SourceTree& builtin_sources();

/// Reads the manifests, sources and headers under `folder`, and other files that a manifest names. Throws ManifestError
/// if the folder cannot be read or has no manifest.
SourceTree read_sources(const std::filesystem::path& folder);

/// Returns all kernels of `tree`, sorted by operation and name. `library` has the operations and shared headers that
/// `tree` lacks. Throws ManifestError.
std::vector<KernelTemplate> load_templates(const SourceTree& tree, const SourceTree& library = builtin_sources());

/// Returns the kernels of builtin_sources(). The first call loads them.
const std::vector<KernelTemplate>& builtin_templates();

/// Returns a hash of what a kernel's operation computes and how the operation is verified. The hash covers the
/// arguments (with the contents of their data files), the terms, the checks, and the constants of the problem's layout.
/// It also covers the sources of the reference and of `prepare`, with the files that they include. It covers neither
/// the manifest's summaries nor its comments.
std::string operation_identity(const KernelTemplate& kernel_template, const Problem& problem);
/// Whether `identity` begins with the operation_identity() of an operation whose manifest has `reference = "none"`.
bool is_unchecked(std::string_view identity);

/// Loads a stored kernel. `files` is the KernelTemplate::files of the kernel. `stored_hash` is the hash under which the
/// kernel was stored. If it is given, the kernel compiles to the same machine code as when it was stored. Throws
/// ManifestError.
KernelTemplate load_template(const SourceTree& files, const std::string& stored_hash = {});

}  // namespace smemtune
