// Problems in the T1 format (also called CAFF), which Kernel Tuner, KTT and BAT read, as manifests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smemtune {

struct ImportedProblem {
    std::string manifest;               ///< TOML
    std::string sizes;                  ///< of the problem, for --sizes
    std::vector<std::string> left_out;  ///< what the file says and the manifest does not, or otherwise
};

/// The kernel's source, from the file's folder. Throws std::invalid_argument if the file names none that can be tuned.
std::string t1_source_path(const nlohmann::json& file);

/// A manifest for the problem of `file`, whose kernel is in `source`. `name` is a C++ identifier. The result of the
/// default configuration is the reference. Throws std::invalid_argument, which says what the file lacks.
ImportedProblem import_t1(const nlohmann::json& file, const std::string& name, const std::string& source);

}  // namespace smemtune
