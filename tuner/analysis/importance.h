// Computes which parameters decide the speed of a template, from the stored outcomes of one problem on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/outcome.h"
#include "templates/space/parameter_space.h"

namespace smemtune {

/// Measured configurations and their times. Rejected configurations have no time and are only counted.
struct OutcomeTable {
    struct Row {
        std::vector<std::int64_t> values;  ///< one value for each of `parameters`
        double time = 0;                   ///< the measured time, more than 0, in any unit
    };
    std::vector<std::string> parameters;
    std::vector<Row> rows;
    std::size_t rejected = 0;
    /// The number of `rows` whose sampling ended early, because the configuration was clearly slower than the best.
    /// Their times are medians of fewer samples. They are used like all other times.
    std::size_t cut_short = 0;

    /// Adds the outcome of a configuration. Throws std::invalid_argument if the configuration's parameters are not the
    /// same as those of the configurations that were added before.
    void add(const Configuration& configuration, const Outcome& outcome);
};

/// The importance of parameters: shares of the variance of log(time) over the configurations. The logarithm makes a
/// step from 10 us to 20 us weigh as much as a step from 1 ms to 2 ms.
struct Importance {
    struct Level {
        std::int64_t value = 0;
        double time = 0;           ///< the geometric mean of the times of configurations with this value
        std::size_t measured = 0;  ///< number of measured configurations with this value
    };
    struct Parameter {
        std::string name;
        double share = 0;           ///< share of this parameter alone: Var(E[log t | parameter]) / Var(log t), 0 to 1
        std::vector<Level> levels;  ///< the values of the parameter, in ascending order
    };
    /// The interaction of two parameters: the share of the variance that both explain together, minus the shares of
    /// both alone. Lies between 0 and 1.
    struct Pair {
        std::string first, second;
        double share = 0;
    };

    /// The most important parameter first; parameters with a single value are left out.
    std::vector<Parameter> parameters;
    std::vector<Pair> pairs;  ///< all pairs of `parameters`, the pair with the largest share first
    bool exact = false;       ///< every valid configuration was tried, so no model was needed
    std::string method;       ///< names the method in one phrase, to be printed
    std::size_t measured = 0, rejected = 0, cut_short = 0;
    std::optional<std::size_t> valid;  ///< the number of valid configurations; nothing if unknown
    /// The share of the variance that the random forest explains at configurations it was not trained on. 1 if `exact`.
    double explained = 0;
    /// If there are too few outcomes, this text says what is missing and what to do, and `parameters` and `pairs`
    /// are empty. Otherwise the text is empty.
    std::string too_little;
};

/// Limits for a result that is not exact. importance() returns no shares if a value is below its limit.
constexpr std::size_t least_measured = 30;                ///< measured configurations
constexpr std::size_t least_measured_per_parameter = 10;  ///< measured configurations per parameter that varies
constexpr double least_explained = 0.5;                   ///< Importance::explained

/// Computes first-order and pairwise shares of variance (Sobol', Sensitivity Estimates for Nonlinear Mathematical
/// Models, 1993). If every point of `valid` was tried, the shares are computed from the measured times.
///
/// Otherwise a random forest learns the times, and the shares are computed from its predictions (functional ANOVA:
/// Hutter et al., An Efficient Approach for Assessing Hyperparameter Importance, 2014). The forest predicts at up to
/// 20,000 points of `valid`, or at the measured configurations if `valid` is null. The measured configurations give
/// biased shares, because a search tries more configurations near the best ones. Points of `valid` have no such bias.
///
/// Shares may add up to more than 1, because constraints make parameters depend on each other. The same outcomes always
/// give the same result.
Importance importance(const OutcomeTable& outcomes, const ParameterSpace* valid = nullptr);

}  // namespace smemtune
