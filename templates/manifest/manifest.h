// Reads manifests: TOML to Operation and KernelTemplate. Misspelt, missing or inconsistent entries are errors with
// file, line and remedy, found before anything is compiled.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Operations by name.
using Operations = std::map<std::string, Operation>;

/// Reads the `[operation]` of a manifest, if it has one. `path` is the manifest's path: errors quote it, and the
/// reference is looked up relative to it. Throws ManifestError.
std::optional<Operation> parse_operation(const std::string& path, const std::string& text);

/// The manifest without its `[template]`, if it holds one beside its operation. Throws ManifestError.
std::string operation_alone(const std::string& path, const std::string& text);

/// Finds the text of the manifest at `path`. If there is none, throws a ManifestError that begins with `wanted_at`
/// (FILE:LINE).
using FindManifest = std::function<const std::string&(const std::string& path, const std::string& wanted_at)>;

/// Returns the manifest with all inherited entries written out; returns `text` unchanged if it extends no other
/// manifest.
std::string without_extends(const std::string& path, const std::string& text, const FindManifest& find);

/// Reads the `[template]` of a manifest, if it has one. `files` and `hash` stay empty, and `same_code_as` holds the
/// whole `same_code` list. `find` looks up manifests that this one extends. Throws ManifestError.
std::optional<KernelTemplate> parse_template(const std::string& path, const std::string& text,
                                             const Operations& operations, const FindManifest& find = {});

}  // namespace smemtune
