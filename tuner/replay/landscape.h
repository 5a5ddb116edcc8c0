// Recorded tunings: all configurations of a space with their costs, to replay searches without a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "templates/space/parameter_space.h"

namespace smemtune {

struct Landscape {
    std::string device;
    std::string kernel;
    std::string problem;
    std::string objective;  ///< the unit of `costs`: "ms", "us", or the name of the minimised quantity
    std::shared_ptr<const ParameterSpace> space;
    std::vector<std::optional<double>> costs;  ///< by index in the space, lower is better; nothing for a failure
    /// The number of the template's valid configurations for the problem and device. Nothing if unknown, as for Kernel
    /// Tuner's caches.
    std::optional<std::size_t> valid{};
    std::size_t tried = 0;     ///< the number of valid configurations that were tried
    bool of_database = false;  ///< true for a database, false for a cache
    /// The texts of a parameter's values, by the parameter's name. Only parameters with a value that is not a whole
    /// number are in this map. In a configuration, such a parameter has the index of a text as its value.
    std::map<std::string, std::vector<std::string>, std::less<>> spellings;

    using Spelled = std::map<std::string, std::string>;
    /// The configuration with its values as texts. The texts are the same in all recordings of this kernel, but the
    /// indices that stand for them may differ.
    [[nodiscard]] Spelled spelled(const Configuration& configuration) const;
    /// The inverse of spelled(); nothing when the configuration is not in the space.
    [[nodiscard]] std::optional<Configuration> configuration(const Spelled& spelled) const;
    /// Indices of the configurations that did not fail, best first.
    [[nodiscard]] std::vector<std::size_t> by_cost() const;
};

/// Selects one recording of a smemtune database. The fields are names or patterns, as in Store::Filter.
struct LandscapeFilter {
    std::vector<std::string> devices{};
    std::vector<std::string> kernel_templates{};
    std::vector<std::string> sizes{};
    std::vector<std::string> operations{};
    std::string layout{};  ///< the layout; any layout if empty
};

constexpr std::size_t longest_cache = std::size_t{1} << 28;

/// Reads a smemtune database or a cache of Kernel Tuner. The first bytes tell them apart. A cache is JSON, with or
/// without gzip, and lacks its closing braces if the run was interrupted. Throws std::invalid_argument if the file is
/// neither, is empty, is a cache with more than `longest_cache` bytes when unpacked, or holds only failures. Also
/// throws it if `filter` selects no recording or several recordings of a database. The message names the file and a
/// remedy. Throws StoreError if a database cannot be read.
Landscape read_landscape(const std::filesystem::path& path, const LandscapeFilter& filter = {});

/// Returns the text of a file, which may be compressed with gzip. Throws std::invalid_argument if the file cannot be
/// read, is damaged gzip data, or has more than `longest_cache` bytes when unpacked.
std::string read_unpacked(const std::filesystem::path& path);

}  // namespace smemtune
