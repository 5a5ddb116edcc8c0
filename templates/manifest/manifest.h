// Reads manifests, which are TOML, into Operation and KernelTemplate. Reports misspelt, missing and inconsistent
// entries with file, line and remedy, before anything is compiled.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Operations by name.
using Operations = std::map<std::string, Operation>;

/// Reads the `[operation]` of a manifest, if it has one. Error messages begin with `path`, the path of the manifest.
/// The manifest names the reference's file relative to the folder of `path`. Throws ManifestError.
std::optional<Operation> parse_operation(const std::string& path, const std::string& text);

/// Returns only the `[operation]` of a manifest that has a `[template]`; returns `text` unchanged if it has no
/// `[template]`. Throws ManifestError.
std::string operation_alone(const std::string& path, const std::string& text);

/// Finds the text of the manifest at `path`. If there is none, throws a ManifestError that begins with `wanted_at`
/// (FILE:LINE).
using FindManifest = std::function<const std::string&(const std::string& path, const std::string& wanted_at)>;

/// Reads the `[template]` of a manifest, if it has one. In the result, `hash` is empty, and `same_code_as` is the whole
/// `same_code` list. `files` has only the manifest, with all inherited entries written out if it extends another one.
/// `find` finds the manifest that this one extends. Throws ManifestError.
std::optional<KernelTemplate> parse_template(const std::string& path, const std::string& text,
                                             const Operations& operations, const FindManifest& find = {});

/// Of a parameter that is not compiled in: the manifest's key that says so, and the parameter's kind in messages.
std::string uncompiled_key(const Parameter& parameter);
std::string uncompiled_kind(const Parameter& parameter);

}  // namespace smemtune
