// The `reference` of an `[operation]`.
#pragma once

#include "templates/manifest/kernel_template.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Whether the path names C++ of the host, not a kernel.
bool is_host_source(const std::string& path);

/// The path in the templates folder of a kernel's or function's source, which the manifest gives as `file` under `key`.
/// Throws ManifestError.
std::string read_source(const Section& section, const std::string& key, const std::string& file);

/// Sets Operation::reference and reference_path. Throws ManifestError.
void read_reference(const Section& section, Operation& operation);

/// References without magnitudes have no error bound: their outputs get a tolerance by type, unless the manifest gives
/// one. Stored answers need inputs that are always the same. Precondition: arguments and checks are read. Throws
/// ManifestError.
void complete_reference(const Section& section, Operation& operation);

/// Reads the files that the reference of `kernel` names into KernelTemplate::files. Throws ManifestError.
void attach_reference(KernelTemplate& kernel, const SourceTree& tree, const SourceTree& library);

/// Everything that decides the values of a reference without source; empty for others.
std::string reference_text(const KernelTemplate& kernel);

}  // namespace smemtune
