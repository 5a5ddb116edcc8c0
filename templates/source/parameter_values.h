// The values of a parameter, as manifests write them: whole numbers, ranges, booleans, numbers with a point, text.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/manifest/section.h"

namespace smemtune {

/// `values` of a `[[parameter]]`: a range or a list, in the manifest's order. Ranges are `"1..16"`, `"0..64:8"` (a
/// step) and `"1..64:*2"` (each value twice the one before). Throws ManifestError.
std::vector<std::int64_t> parameter_values(const Section& section);

/// `default` of a `[[parameter]]`, one of `values`. Throws ManifestError.
std::int64_t parameter_default(const Section& section, const std::vector<std::int64_t>& values);

}  // namespace smemtune
