// Computes the energy of a launch from readings of an energy counter that changes only at intervals. Callers pass the
// readings as numbers, so no device is needed.
#pragma once

#include <cstdint>

namespace smemtune {

/// Divides the energy between two updates of the counter by the number of launches between them. Readings between
/// updates give no energy, because the counter then still has its previous value.
class EnergyMeter {
public:
    static constexpr double least_ms = 300;  ///< minimum time between the two updates; a GPU updates every 20 to 100 ms
    static constexpr double most_ms = 3000;  ///< at the latest, the measurement ends this long after the first reading

    /// Adds a reading of the counter, taken at time `ms`. `launches` is the number of launches since the previous
    /// reading; it is ignored for the first reading.
    void add(double ms, std::uint64_t millijoules, std::size_t launches);
    [[nodiscard]] bool finished() const;
    /// Energy of one launch in microjoules. 0 if the readings show no two updates at least `least_ms` apart, or no
    /// launch between these updates.
    [[nodiscard]] double launch_uj() const;

private:
    bool read_ = false, begun_ = false, ended_ = false;
    double first_ms_ = 0, begin_ms_ = 0, last_ms_ = 0;
    std::uint64_t begin_millijoules_ = 0, last_millijoules_ = 0;
    std::size_t launches_ = 0;  // launches since the first update
};

}  // namespace smemtune
