// Recorded tunings: every configuration of a space with its cost, so that a search can be replayed without a GPU.
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
    std::vector<std::optional<double>> costs;  ///< by index in the space, less being better; nothing for a failure
    /// How many valid configurations the template has for the problem on the device; nothing when that is unknown, as
    /// for Kernel Tuner's caches.
    std::optional<std::size_t> valid{};
    std::size_t tried = 0;  ///< how many of those it holds
    /// For each parameter whose values are not all whole numbers: the spelling of value i.
    std::map<std::string, std::vector<std::string>, std::less<>> spellings;

    using Spelled = std::map<std::string, std::string>;
    /// The configuration in its recorded spelling, which is the same in every recording of this kernel.
    [[nodiscard]] Spelled spelled(const Configuration& configuration) const;
    /// The inverse of spelled(); nothing when the configuration is not in the space.
    [[nodiscard]] std::optional<Configuration> configuration(const Spelled& spelled) const;
    /// Indices of the configurations that did not fail, the best first.
    [[nodiscard]] std::vector<std::size_t> by_cost() const;
};

/// Selects one recording of a database of smemtune: names or patterns, as of Store::Filter.
struct LandscapeFilter {
    std::vector<std::string> devices{};
    std::vector<std::string> kernel_templates{};
    std::vector<std::string> sizes{};
    std::vector<std::string> operations{};
    std::string layout{};  ///< empty: any
};

/// Reads a Kernel Tuner cache (JSON, gzip or not; closed, or open as an interrupted run leaves it) or one of our own
/// databases: told apart by their first bytes. Throws std::invalid_argument naming the file and the remedy: it is
/// neither, it holds nothing, everything in it failed, or a database holds several and `filter` does not choose;
/// StoreError when a database cannot be read.
Landscape read_landscape(const std::filesystem::path& path, const LandscapeFilter& filter = {});

}  // namespace smemtune
