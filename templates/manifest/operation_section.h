// Reads the `[operation]` of a manifest: arguments, checks, layouts.
#pragma once

#include "templates/manifest/kernel_template.h"
#include "templates/manifest/section.h"

namespace smemtune {

/// Throws ManifestError for misspelt, missing or inconsistent entries.
Operation read_operation(const Section& section);

/// Returns the names that all expressions of an operation and of its templates may use.
Names names_of(const Operation& operation);

}  // namespace smemtune
