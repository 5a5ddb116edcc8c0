// Reads the key `reference` of an `[operation]`.
#pragma once

#include "templates/manifest/kernel_template.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Whether the path ends like a C++ source for the host: .cpp, .cc or .cxx.
bool is_host_source(const std::string& path);

/// Returns the path, in the templates folder, of the source that the manifest gives as `file` under `key`. Throws
/// ManifestError if `file` is neither a .cu file nor a C++ source.
std::string read_source(const Section& section, const std::string& key, const std::string& file);

/// Reads Operation::reference and Operation::reference_path. Throws ManifestError.
void read_reference(const Section& section, Operation& operation);

/// Gives outputs of a floating type a default tolerance if the reference has no source and the manifest gives no
/// tolerance. A reference without a source computes no magnitudes, so there is no error bound. Throws ManifestError if
/// a verifier's output has a tolerance, or if stored answers do not fit the operation, for example because inputs are
/// random. Precondition: arguments and checks have been read.
void complete_reference(const Section& section, Operation& operation);

/// Copies the files that the reference of `kernel` names into KernelTemplate::files. Throws ManifestError if a file is
/// missing or malformed.
void attach_reference(KernelTemplate& kernel, const SourceTree& tree, const SourceTree& library);

/// Returns a text for hashes: the kind of the reference and everything that decides the reference's values, except for
/// source files. Empty for Kind::kernel.
std::string reference_text(const KernelTemplate& kernel);

}  // namespace smemtune
