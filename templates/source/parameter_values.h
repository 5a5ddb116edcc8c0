// Reads the values of a parameter from a manifest: whole numbers, ranges, booleans, numbers with a point, texts.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/manifest/section.h"

namespace smemtune {

/// Reads the key `values` of a `[[parameter]]`, which is a range or a list. Returns the values in the manifest's order.
/// Ranges are `"1..16"`, `"0..64:8"` (with a step) and `"1..64:*2"` (each value is twice the previous value). Throws
/// ManifestError.
std::vector<std::int64_t> parameter_values(const Section& section);

/// Reads the key `default` of a `[[parameter]]`. Throws ManifestError if the default is not one of `values`.
std::int64_t parameter_default(const Section& section, const std::vector<std::int64_t>& values);

}  // namespace smemtune
