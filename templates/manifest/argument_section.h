// Reads an `[[operation.argument]]` of a manifest.
#pragma once

#include "templates/manifest/kernel_template.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Reads an argument whose expressions may use the names in `known`. Throws ManifestError.
Argument read_argument(const Section& section, const Names& known);

/// Whether the argument needs the typed testbed (tuner/trial/typed), because the manifest gives it a type, values, a
/// tolerance, a symbol or the kind `inout`.
bool is_typed(const Argument& argument);

}  // namespace smemtune
