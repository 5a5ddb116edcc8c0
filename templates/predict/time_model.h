// Predicts the time of a launch as a sum of terms: what the hardware would need for each part, times a coefficient that
// was fitted to measurements of the same configuration on other problems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smemtune {

/// The parts of a launch's time. A term is in microseconds (or thousands of multiprocessor cycles if the clock is
/// unknown) if nothing else took time; `launch`, `waves` and `blocks` count, `memory` and `workspace` are in units of
/// 4 MB.
enum class Term : std::uint8_t {
    launch,      ///< 1
    waves,       ///< waves of blocks, the last and partly filled one included
    blocks,      ///< blocks that the busiest multiprocessor runs
    latency,     ///< waves * phases, each one trip to memory
    arithmetic,  ///< operations of the busiest multiprocessor
    loads,       ///< global loads of the busiest multiprocessor, at the rate of the L2 cache
    memory,      ///< bytes that the problem moves at least
    workspace,   ///< bytes of the workspace
};
inline constexpr std::size_t term_count = 8;
inline constexpr std::array<std::string_view, term_count> term_names{"launch",     "waves", "blocks", "latency",
                                                                     "arithmetic", "loads", "memory", "workspace"};
/// Raised whenever a term changes its meaning: coefficients of other versions are not used.
inline constexpr int terms_version = 1;

/// Indexed by Term.
using Terms = std::array<double, term_count>;

/// The model of one configuration on one device.
struct TimeModel {
    Terms coefficients{};  ///< not negative, so a prediction grows with each term
    double error = 0;      ///< two of three predictions are within a factor of 1 + error of the measured time

    /// The share of each term in the predicted time, in microseconds.
    [[nodiscard]] Terms shares(const Terms& terms) const;
    [[nodiscard]] double predicted_us(const Terms& terms) const;

    friend bool operator==(const TimeModel&, const TimeModel&) = default;
};

}  // namespace smemtune
