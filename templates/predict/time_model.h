// Predicts the time of a launch as a sum of terms: what the hardware would need for each part, times a coefficient that
// was fitted to measurements of the same configuration on other problems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smemtune {

/// The parts of a launch's time. A term is the time that this part alone would take, in microseconds (or thousands of
/// multiprocessor cycles if the clock is unknown). Exceptions: `launch`, `waves` and `blocks` are counts, `memory` and
/// `workspace` are in units of 4 MB.
enum class Term : std::uint8_t {
    launch,           ///< 1
    waves,            ///< waves of blocks or clusters, the last and partly filled one included
    blocks,           ///< blocks that the busiest multiprocessor runs
    latency,          ///< waves * phases, each one trip to memory
    arithmetic,       ///< operations of the busiest multiprocessor
    loads,            ///< global loads of the busiest multiprocessor, at the rate of the L2 cache
    memory,           ///< bytes that the problem moves at least
    workspace,        ///< bytes of the workspace
    dependent_loads,  ///< waves * phases * loads of a thread that wait for one another, each one trip to memory
};
inline constexpr std::size_t term_count = 9;
inline constexpr std::array<std::string_view, term_count> term_names{
    "launch", "waves", "blocks", "latency", "arithmetic", "loads", "memory", "workspace", "dependent_loads"};
/// Increases whenever a term changes its meaning. Coefficients of other versions are not used.
inline constexpr int terms_version = 3;

/// Indexed by Term.
using Terms = std::array<double, term_count>;

/// The error of a model at a measured problem.
struct Residual {
    std::vector<double> place;  ///< the natural logarithms of the problem's extents
    double log_ratio = 0;       ///< logarithm of the measured time over the predicted one

    bool operator==(const Residual&) const = default;
};

/// The model of one configuration on one device.
struct TimeModel {
    Terms coefficients{};  ///< not negative, so a prediction grows with each term
    double error = 0;      ///< two of three predictions are within a factor of 1 + error of the measured time
    std::vector<Residual> residuals{};  ///< they correct predictions of problems nearby (correction.h)

    /// The share of each term in the predicted time, in microseconds.
    [[nodiscard]] Terms shares(const Terms& terms) const;
    [[nodiscard]] double predicted_us(const Terms& terms) const;

    friend bool operator==(const TimeModel&, const TimeModel&) = default;
};

}  // namespace smemtune
