// Manifests that extend another one: `[template] extends = "gemm/warp_tiled.toml"`.
#pragma once

#include <string>

#include "templates/manifest/manifest.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Whether a manifest has the key `extends`, or its earlier name `like`.
bool extends_another(const toml::table& manifest);

/// The manifest without `extends`, but with all that it takes from there: the entries of [[parameter]], [[derived]] and
/// [[constraint]], ahead of its own, and the keys of [launch], [requires] and [model] that it does not give itself.
/// Each keeps the file and line in which it was written. Throws ManifestError.
toml::table complete_manifest(const std::string& path, const std::string& text, const FindManifest& find);

}  // namespace smemtune
