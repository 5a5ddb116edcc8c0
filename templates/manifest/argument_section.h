// One `[[operation.argument]]` of a manifest.
#pragma once

#include "templates/manifest/kernel_template.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// `known`: the names that its expressions may use. Throws ManifestError.
Argument read_argument(const Section& section, const Names& known);

/// Whether the argument needs the typed testbed.
bool is_typed(const Argument& argument);

}  // namespace smemtune
