// Reads manifests: TOML to Operation and KernelTemplate. What is misspelt, missing or inconsistent is an error with
// file, line and remedy, before anything is compiled.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Operations by name.
using Operations = std::map<std::string, Operation>;

/// The `[operation]` that a manifest holds, if any. `path` is the manifest's, for errors and to find its reference.
/// Throws ManifestError.
std::optional<Operation> parse_operation(const std::string& path, const std::string& text);

/// The manifest without the `[template]` that it may hold beside its operation. Throws ManifestError.
std::string operation_alone(const std::string& path, const std::string& text);

/// The text of the manifest at `path`. Throws ManifestError that begins with `wanted_at`, FILE:LINE, if there is none.
using FindManifest = std::function<const std::string&(const std::string& path, const std::string& wanted_at)>;

/// The manifest with what it takes from the one that it extends written out; `text` itself if it extends none.
std::string without_extends(const std::string& path, const std::string& text, const FindManifest& find);

/// The `[template]` that a manifest holds, if any; `files` and `hash` are left empty, and `same_code_as` holds all of
/// the manifest's `same_code`. `find` is for manifests that extend another. Throws ManifestError.
std::optional<KernelTemplate> parse_template(const std::string& path, const std::string& text,
                                             const Operations& operations, const FindManifest& find = {});

}  // namespace smemtune
