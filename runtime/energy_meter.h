// The energy of a launch from a counter that stands still between its updates. Fed plain numbers.
#pragma once

#include <cstdint>

namespace smemtune {

/// Counts the launches between two updates of the counter: between updates, what it shows is of no use.
class EnergyMeter {
public:
    static constexpr double least_ms = 300;  ///< between the updates, which come every 20 to 100 ms: a small grain
    static constexpr double most_ms = 3000;  ///< from the first reading on; then what there is must do

    /// A reading of the counter at time `ms`, when `launches` more are done since the one before. The first one only
    /// says where the counter stands.
    void add(double ms, std::uint64_t millijoules, std::size_t launches);
    [[nodiscard]] bool finished() const;
    /// Microjoules of one launch; 0 when no two updates at least `least_ms` apart were seen, or no launch between them.
    [[nodiscard]] double launch_uj() const;

private:
    bool read_ = false, begun_ = false, ended_ = false;
    double first_ms_ = 0, begin_ms_ = 0, last_ms_ = 0;
    std::uint64_t begin_millijoules_ = 0, last_millijoules_ = 0;
    std::size_t launches_ = 0;  // since the update at which it began
};

}  // namespace smemtune
