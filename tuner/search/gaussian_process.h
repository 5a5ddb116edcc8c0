// A Gaussian process: from the values at some points, the values expected at others and how far off they may be.
#pragma once

#include <optional>
#include <vector>

namespace smemtune {

/// How alike the values at two points are: the product over the columns of Matérn's kernel of smoothness 3/2,
/// (1 + r) exp(-r), where r is the distance in that column times its rate (Rasmussen and Williams, Gaussian Processes
/// for Machine Learning, 2006, equation 4.17).
struct Covariance {
    std::vector<double> rates;
    double noise = 0.01;  ///< the variance of what no column explains; that of the values is 1

    [[nodiscard]] double operator()(const std::vector<float>& a, const std::vector<float>& b) const;
};

using Rows = std::vector<std::vector<float>>;  ///< points, each with as many numbers as the kernel has rates

/// The kernel under which `values`, standardised, are most likely, weighed against how far it lies from `prior`: the
/// logarithm of each rate is expected within 1 of it. Climbs from `kernel` by resilient propagation (Riedmiller and
/// Braun, 1993), `steps` times; each costs the cube of the number of points.
Covariance fitted(Covariance kernel, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps);

/// What is known at fixed candidates while points are added one by one.
class Posterior {
public:
    struct Prediction {
        std::vector<float> mean;
        std::vector<float> variance;
    };

    Posterior(Covariance kernel, const Rows& candidates);
    /// Costs the number of points so far times that of the candidates.
    void add(const std::vector<float>& point);
    [[nodiscard]] std::size_t size() const { return points_.size(); }
    /// From the value at each point, in the order of adding, with zero expected where nothing is known. A value that is
    /// still awaited is taken to be what the points added before that one make expected. The variances do not depend
    /// on the values. Costs what add costs.
    [[nodiscard]] Prediction predict(const std::vector<std::optional<double>>& values) const;

private:
    [[nodiscard]] std::vector<float> covariances(const std::vector<float>& point) const;

    Covariance kernel_;
    std::size_t count_;                        // of candidates
    std::vector<std::vector<float>> columns_;  // of the candidates: a column is read as a whole
    Rows points_;
    std::vector<std::vector<double>> factor_;  // Cholesky's, of the covariances of the points, by row
    Rows explained_;                           // the factor's inverse times the covariances with the candidates
    std::vector<float> variance_;
};

}  // namespace smemtune
