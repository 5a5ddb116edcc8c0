// Completes manifests that extend another manifest, as by `[template] extends = "gemm/warp_tiled.toml"`.
#pragma once

#include <string>

#include "templates/manifest/manifest.h"
#include "templates/manifest/section.h"

namespace smemtune {

struct CompleteManifest {
    toml::table table;
    bool has_inherited = false;  ///< whether the manifest extends another one
};

/// Returns the manifest without the key `extends` (earlier name: `like`), with the inherited entries written out.
/// Inherited entries of [[parameter]], [[derived]], [[constraint]] and [[tensor_map]] come before the manifest's own
/// entries. From [launch], [requires] and [model], the manifest inherits the keys that it does not set itself. Each
/// entry keeps the file and line in which it was written. Throws ManifestError.
CompleteManifest complete_manifest(const std::string& path, const std::string& text, const FindManifest& find);

}  // namespace smemtune
