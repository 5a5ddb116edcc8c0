// Computes the energy of a launch from a counter that changes only at intervals. It is fed plain numbers.
#pragma once

#include <cstdint>

namespace smemtune {

/// Counts the launches between two updates of the counter. The counter's value is stale between updates.
class EnergyMeter {
public:
    static constexpr double least_ms = 300;  ///< minimum between the two updates; updates are 20 to 100 ms apart
    static constexpr double most_ms = 3000;  ///< limit, from the first reading on

    /// Adds a reading of the counter at time `ms`, after `launches` more launches. The first reading only gives the
    /// counter's value.
    void add(double ms, std::uint64_t millijoules, std::size_t launches);
    [[nodiscard]] bool finished() const;
    /// Microjoules of one launch. 0 if no two updates at least `least_ms` apart were seen, or no launch lay between
    /// them.
    [[nodiscard]] double launch_uj() const;

private:
    bool read_ = false, begun_ = false, ended_ = false;
    double first_ms_ = 0, begin_ms_ = 0, last_ms_ = 0;
    std::uint64_t begin_millijoules_ = 0, last_millijoules_ = 0;
    std::size_t launches_ = 0;  // since the first update
};

}  // namespace smemtune
