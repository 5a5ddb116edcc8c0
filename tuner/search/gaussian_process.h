// A Gaussian process: predicts values, with their uncertainty, from the values at known points.
#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace smemtune {

/// The covariance of the values at two points. It is a product over the columns of the Matérn function of smoothness
/// 3/2, (1 + r) exp(-r), where r is the distance in that column divided by its length scale (Rasmussen and Williams,
/// Gaussian Processes for Machine Learning, 2006, equation 4.17).
struct Covariance {
    std::vector<double> inverse_scales;  ///< 1 / length scale of each column
    double noise = 0.01;                 ///< variance that no column explains; the values have variance 1

    [[nodiscard]] double operator()(const std::vector<float>& a, const std::vector<float>& b) const;
};

using Rows = std::vector<std::vector<float>>;  ///< points; each has one number for each scale of the covariance

/// The most probable covariance given `values` and `prior`. The values are standardised; the logarithm of each scale
/// has a normal prior around the scale of `prior`, with deviation 1. Starts at `covariance` and takes `steps` steps of
/// resilient propagation (Riedmiller and Braun, 1993). Each step costs the cube of the number of points.
Covariance fitted(Covariance covariance, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps);

/// The posterior at fixed candidates. Points are added one by one.
class Posterior {
public:
    struct Prediction {
        std::vector<float> mean;
        std::vector<float> variance;
    };

    Posterior(Covariance covariance, const Rows& candidates);
    ~Posterior();
    Posterior(Posterior&&) noexcept;
    Posterior& operator=(Posterior&&) noexcept;

    /// Costs the number of points so far times the number of candidates.
    void add(const std::vector<float>& point);
    /// Predicts from the value at each point, in the order of adding; the prior mean is zero. A pending value (nullopt)
    /// is taken to be the mean that the earlier points predict. Variances do not depend on the values. Costs as much as
    /// add().
    [[nodiscard]] Prediction predict(const std::vector<std::optional<double>>& values) const;

private:
    struct State;  // hides Eigen's matrices from this header
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
