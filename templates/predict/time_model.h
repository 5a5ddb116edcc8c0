// Predicts the time of a launch as a weighted sum of terms. A term is the time that the hardware would need for one
// part of the launch. The weights are coefficients that were fitted to measurements of the same configuration at other
// problems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smemtune {

/// The parts of a launch's time. A term is the time that one part alone would take, in microseconds (or in thousands of
/// multiprocessor cycles if the clock is unknown). Exceptions: `launch`, `waves` and `blocks` are numbers without a
/// unit; `memory` and `workspace` are in units of 4 MB.
enum class Term : std::uint8_t {
    launch,           ///< the number 1, for the fixed cost of a launch
    waves,            ///< number of waves of blocks or clusters; a partly filled last wave is a whole wave
    blocks,           ///< number of blocks that the busiest multiprocessor runs
    latency,          ///< waves * phases * (memory latency + time of the barriers of a phase)
    arithmetic,       ///< time of the arithmetic operations of the busiest multiprocessor
    loads,            ///< time of global loads and stores of the busiest multiprocessor, at the rate of the L2 cache
    memory,           ///< bytes that any kernel must move for this problem
    workspace,        ///< bytes of the workspace
    dependent_loads,  ///< waves * memory latency * number of loads of a thread that each wait for the previous load
    l2,               ///< time of the loads of all blocks together, if every multiprocessor loads at its full rate
};
inline constexpr std::size_t term_count = 10;
inline constexpr std::array<std::string_view, term_count> term_names{
    "launch", "waves", "blocks", "latency", "arithmetic", "loads", "memory", "workspace", "dependent_loads", "l2"};
/// This number increases whenever a term is added or changes its meaning. Coefficients of other versions are not used.
inline constexpr int terms_version = 6;

/// A number for each Term.
using Terms = std::array<double, term_count>;

/// The error of a model at a measured problem.
struct Residual {
    std::vector<double> place;  ///< the natural logarithms of the problem's extents
    double log_ratio = 0;       ///< logarithm of the measured time over the predicted time

    bool operator==(const Residual&) const = default;
};

/// The model of one configuration on one device.
struct TimeModel {
    Terms coefficients{};  ///< never negative, so that a prediction grows with each term
    double error = 0;      ///< two thirds of measured times lie within a factor of 1 + error of the prediction
    std::vector<Residual> residuals{};  ///< errors at measured problems; correction.h corrects predictions with them

    /// Returns the part of the predicted time that each term contributes, in microseconds.
    [[nodiscard]] Terms shares(const Terms& terms) const;
    [[nodiscard]] double predicted_us(const Terms& terms) const;

    friend bool operator==(const TimeModel&, const TimeModel&) = default;
};

}  // namespace smemtune
