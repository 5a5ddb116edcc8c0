// Recorded tunings: every configuration of a space with what it cost, so that a search can be replayed with no GPU.
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
    std::string objective;  ///< what `costs` are: "ms", "us", or the name of what was minimised
    std::shared_ptr<const ParameterSpace> space;
    std::vector<std::optional<double>> costs;  ///< by index in the space, less being better; nothing where it failed
    /// Of parameters whose values are not all whole numbers: how value i is spelt.
    std::map<std::string, std::vector<std::string>, std::less<>> spellings;

    using Spelled = std::map<std::string, std::string>;
    /// The configuration as it was recorded: the same in every recording of this kernel.
    [[nodiscard]] Spelled spelled(const Configuration& configuration) const;
    /// Back again; nothing when it is not in the space.
    [[nodiscard]] std::optional<Configuration> configuration(const Spelled& spelled) const;
    /// Indices of what did not fail, the best first.
    [[nodiscard]] std::vector<std::size_t> by_cost() const;
};

/// Which recording of one of our databases: parts of names, or whole names. Empty fits everything.
struct LandscapeFilter {
    std::string device{};
    std::string kernel_template{};
    std::string size{};
};

/// Reads a Kernel Tuner cache (JSON, gzip or not; closed, or open as an interrupted run leaves it) or one of our own
/// databases: told apart by their first bytes. Throws std::invalid_argument naming the file and the remedy: it is
/// neither, it holds nothing, everything in it failed, or a database holds several and `filter` does not choose;
/// StoreError when a database cannot be read.
Landscape read_landscape(const std::filesystem::path& path, const LandscapeFilter& filter = {});

}  // namespace smemtune
