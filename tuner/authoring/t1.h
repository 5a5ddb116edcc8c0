// Converts problems in the T1 format (also called CAFF) to manifests. Kernel Tuner, KTT and BAT read this format.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smemtune {

struct ImportedProblem {
    std::string manifest;               ///< the manifest, as TOML
    std::string sizes;                  ///< the size of the problem, in the form of --sizes
    std::vector<std::string> left_out;  ///< one text for each part of the file that the manifest omits or changes
};

/// The path of the kernel's source, relative to the folder of the file. Throws std::invalid_argument if the file lacks
/// the path, is not for CUDA, or names a source outside its folder.
std::string t1_source_path(const nlohmann::json& file);

/// Converts the problem of `file`. `source` is the text of the kernel's source. `name`, a C++ identifier, becomes the
/// name of template and operation. The manifest takes the result of the default configuration as the reference. Throws
/// std::invalid_argument, whose message says what the file lacks.
ImportedProblem import_t1(const nlohmann::json& file, const std::string& name, const std::string& source);

}  // namespace smemtune
