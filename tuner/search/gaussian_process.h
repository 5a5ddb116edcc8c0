// A Gaussian process: predicts values, with their uncertainty, from the values at known points.
#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace smemtune {

/// The covariance of the values at two points: the product over all columns of (1 + r) exp(-r), the Matérn function of
/// smoothness 3/2. Here r is the distance of the points in the column divided by the column's length scale (Rasmussen
/// and Williams, Gaussian Processes for Machine Learning, 2006, equation 4.17, whose factor sqrt(3) is part of the
/// scale here).
struct Covariance {
    std::vector<double> inverse_scales;  ///< 1 / length scale of each column
    double noise = 0.01;                 ///< variance that no column explains; the values' variance is 1

    [[nodiscard]] double operator()(const std::vector<float>& a, const std::vector<float>& b) const;
};

using Rows = std::vector<std::vector<float>>;  ///< one row for each point, one number for each column

/// Returns the most probable covariance given `values` and `prior`. The values must be standardised. The logarithms of
/// the scales and of the noise have normal priors with deviation 1 around the logarithms of the values in `prior`. The
/// fit starts at `covariance` and takes `steps` steps of resilient propagation (Riedmiller and Braun, 1993). The time
/// of each step grows with the cube of the number of points.
Covariance fitted(Covariance covariance, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps);

/// The posterior distribution of the values at a fixed set of candidates. Known points are added one by one.
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

    /// Adds a point. The time grows with the number of earlier points times the number of candidates.
    void add(const std::vector<float>& point);
    /// Predicts the values at the candidates. `values` are the values at the added points, in the order of add(). The
    /// prior mean is zero. A pending value (nullopt) is taken to be the mean that the earlier points predict. Variances
    /// do not depend on the values. Takes about as long as add().
    [[nodiscard]] Prediction predict(const std::vector<std::optional<double>>& values) const;

private:
    struct State;  // defined in the .cpp file, so that this header does not include Eigen
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
