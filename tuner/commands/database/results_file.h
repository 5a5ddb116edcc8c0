// Writes results in the formats of other autotuners.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/formats/tuning_results.h"

namespace smemtune {

/// Writes `results` to a new file, and prints the number of configurations. Throws UsageError if the file exists or
/// cannot be written, or if the format cannot hold the results. The file is then absent or unchanged. Precondition:
/// `results` is not empty.
void write_results(const std::filesystem::path& file, const std::string& format,
                   const std::vector<TuningResults>& results);

}  // namespace smemtune
