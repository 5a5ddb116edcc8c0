// Computes which parameters decide the speed of a template, from the stored outcomes of one problem and device.
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

/// Measured configurations and their times. Rejected ones have no time and are only counted.
struct OutcomeTable {
    struct Row {
        std::vector<std::int64_t> values;  ///< one for each parameter
        double time = 0;                   ///< more than 0, in any unit
    };
    std::vector<std::string> parameters;
    std::vector<Row> rows;
    std::size_t rejected = 0;
    /// The number of `rows` whose sampling ended early, because they were clearly slower than the best. Their times are
    /// used like all others: they are means of fewer samples, not bounds.
    std::size_t cut_short = 0;

    /// Adds one outcome. Throws std::invalid_argument if the configuration has other parameters than the earlier ones.
    void add(const Configuration& configuration, const Outcome& outcome);
};

/// Shares of the variance of the logarithm of the time, over the configurations. A parameter that doubles the time
/// counts as much from 10 us to 20 us as from 1 ms to 2 ms.
struct Importance {
    struct Level {
        std::int64_t value = 0;
        double time = 0;           ///< the geometric mean over the configurations with this value
        std::size_t measured = 0;  ///< how many configurations with this value have a time
    };
    struct Parameter {
        std::string name;
        double share = 0;           ///< of this parameter alone: Var(E[log t | parameter]) / Var(log t), 0 to 1
        std::vector<Level> levels;  ///< by value
    };
    /// The interaction of two parameters: the share that they explain together beyond the sum of their shares, 0 to 1.
    struct Pair {
        std::string first, second;
        double share = 0;
    };

    std::vector<Parameter> parameters;  ///< largest share first; those with a single value are left out
    std::vector<Pair> pairs;            ///< largest share first; all of `parameters`
    bool exact = false;                 ///< every valid configuration was tried, so no model was needed
    std::string method;                 ///< one phrase, to be printed
    std::size_t measured = 0, rejected = 0, cut_short = 0;
    std::optional<std::size_t> valid;  ///< the number of valid configurations, if known
    /// The share of the variance that the model explains at configurations it was not trained on. 1 if `exact`.
    double explained = 0;
    /// If there are too few outcomes: what is missing, and what to do. Then `parameters` and `pairs` are empty.
    std::string too_little;
};

/// The least number of measured configurations, in all and for each parameter that varies, and the least
/// Importance::explained. Below any of these, there is no result.
constexpr std::size_t least_measured = 30;
constexpr std::size_t least_measured_per_parameter = 10;
constexpr double least_explained = 0.5;

/// First-order and pairwise shares of variance (Sobol', Sensitivity Estimates for Nonlinear Mathematical Models, 1993).
/// If every point of `valid` was tried, they are computed from the times themselves. Otherwise a random forest learns
/// the times, and the shares are those of its predictions (functional ANOVA: Hutter et al., An Efficient Approach for
/// Assessing Hyperparameter Importance, 2014). It predicts at up to 20,000 points of `valid`, or at the measured
/// configurations if `valid` is null. Predictions at all valid points remove a bias: a search tries more configurations
/// near the best ones. Constraints tie parameters to each other, so shares may add up to more than 1. The same outcomes
/// give the same result.
Importance importance(const OutcomeTable& outcomes, const ParameterSpace* valid = nullptr);

}  // namespace smemtune
