// A Gaussian process: from the values at some points, the values expected at others and how far off they may be.
#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace smemtune {

/// The covariance of the values at two points: the product over the columns of the Matérn function of smoothness 3/2,
/// (1 + r) exp(-r), where r is the distance in that column over its length scale (Rasmussen and Williams, Gaussian
/// Processes for Machine Learning, 2006, equation 4.17).
struct Covariance {
    std::vector<double> inverse_scales;  ///< one over the length scale of each column
    double noise = 0.01;                 ///< the variance that no column explains; that of the values is 1

    [[nodiscard]] double operator()(const std::vector<float>& a, const std::vector<float>& b) const;
};

using Rows = std::vector<std::vector<float>>;  ///< points, each with as many numbers as the covariance has scales

/// The most probable covariance given `values`, which are standardised, and `prior`: the logarithm of each scale is
/// normal around the prior's, with deviation 1. Climbs from `covariance` by resilient propagation (Riedmiller and
/// Braun, 1993), `steps` times; each costs the cube of the number of points.
Covariance fitted(Covariance covariance, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps);

/// The posterior at fixed candidates, while points are added one by one.
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

    /// Costs the number of points so far times that of the candidates.
    void add(const std::vector<float>& point);
    /// From the value at each point, in the order of adding; zero is expected where nothing is known. A pending value
    /// (nullopt) is taken to be the mean that the points added before it predict. The variances do not depend on the
    /// values. Costs what add costs.
    [[nodiscard]] Prediction predict(const std::vector<std::optional<double>>& values) const;

private:
    struct State;  // holds matrices of Eigen, which stay behind the source
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
