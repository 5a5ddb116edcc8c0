// Completes manifests that extend another manifest, as by `[template] extends = "gemm/warp_tiled.toml"`.
#pragma once

#include <string>

#include "templates/manifest/manifest.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Whether a manifest has the key `extends`, or its earlier name `like`.
bool extends_another(const toml::table& manifest);

/// Returns the manifest without `extends`, with the inherited entries written out. Inherited entries of [[parameter]],
/// [[derived]], [[constraint]] and [[tensor_map]] come before the manifest's own entries. From [launch], [requires] and
/// [model], the manifest inherits the keys that it does not set itself. Each entry keeps the file and line in which it
/// was written. Throws ManifestError.
toml::table complete_manifest(const std::string& path, const std::string& text, const FindManifest& find);

}  // namespace smemtune
