#include "tuner/search/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace smemtune {

namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXf;
using Eigen::ArrayXXf;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

constexpr double least_pivot = 1e-8;
constexpr float least_variance = 1e-6F;

// Returns an array with one row for each point. Its columns are contiguous in memory, because covariances() and
// gradient() read whole columns.
ArrayXXf to_array(const Rows& points, std::size_t width) {
    ArrayXXf result(static_cast<Index>(points.size()), static_cast<Index>(width));
    for (std::size_t i = 0; i < points.size(); ++i) {
        result.row(static_cast<Index>(i)) = Eigen::Map<const Eigen::RowVectorXf>(points[i].data(), result.cols());
    }
    return result;
}

// Returns the covariances between `point` and each row of `points`.
template <typename Scalar>
Eigen::Array<Scalar, Eigen::Dynamic, 1> covariances(const Covariance& covariance,
                                                    const Eigen::Ref<const ArrayXXf>& points, const float* point) {
    using Column = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
    Column sum = Column::Zero(points.rows());
    Column factors = Column::Ones(points.rows());
    for (Index f = 0; f < points.cols(); ++f) {
        const auto scale = static_cast<Scalar>(covariance.inverse_scales[static_cast<std::size_t>(f)]);
        const Column r = scale * (points.col(f) - point[f]).abs().template cast<Scalar>();
        sum += r;
        factors *= 1 + r;
    }
    return factors * (-sum).exp();
}

// The gradient of the negative log posterior density with respect to the logarithms of the inverse scales and, last, of
// the noise (Rasmussen and Williams, equation 5.9). Let K be the covariances of the points, dK the derivative
// of K, y the values of the points, and a = K^-1 y. Each component is the sum of two terms: half the trace of
// (K^-1 - a a') dK, and the derivative of the negative logarithm of the prior density.
VectorXd gradient(const Covariance& covariance, const Covariance& prior, const ArrayXXf& points,
                  const VectorXd& values) {
    const auto n = points.rows();
    const auto width = points.cols();
    MatrixXd signal = MatrixXd::Zero(n, n);  // covariances without the noise; lower triangle only
    for (Index j = 0; j + 1 < n; ++j) {
        const Eigen::RowVectorXf point = points.row(j);
        signal.col(j).tail(n - j - 1) = covariances<double>(covariance, points.bottomRows(n - j - 1), point.data());
    }
    MatrixXd total = signal;
    total.diagonal().setConstant(1 + covariance.noise);
    const Eigen::LLT<MatrixXd> factor(total);
    const MatrixXd precision = factor.solve(MatrixXd::Identity(n, n));
    const VectorXd weights = factor.solve(values);

    VectorXd result = VectorXd::Zero(width + 1);
    result[width] = 0.5 * covariance.noise * (precision.trace() - weights.squaredNorm());
    for (Index j = 0; j + 1 < n; ++j) {
        const auto rest = n - j - 1;
        const ArrayXd pull =
            (precision.col(j) - weights[j] * weights).tail(rest).array() * signal.col(j).tail(rest).array();
        for (Index f = 0; f < width; ++f) {
            const auto scale = covariance.inverse_scales[static_cast<std::size_t>(f)];
            const auto r = scale * (points.col(f).tail(rest) - points(j, f)).abs().cast<double>();
            result[f] -= (pull * r.square() / (1 + r)).sum();
        }
    }
    for (Index f = 0; f < width; ++f) {
        const auto column = static_cast<std::size_t>(f);
        result[f] += std::log(covariance.inverse_scales[column] / prior.inverse_scales[column]);
    }
    result[width] += std::log(covariance.noise / prior.noise);
    return result;
}

}  // namespace

double Covariance::operator()(const std::vector<float>& a, const std::vector<float>& b) const {
    double sum = 0;
    double factors = 1;
    for (std::size_t f = 0; f < inverse_scales.size(); ++f) {
        const auto r = inverse_scales[f] * static_cast<double>(std::abs(a[f] - b[f]));
        sum += r;
        factors *= 1 + r;
    }
    return factors * std::exp(-sum);
}

Covariance fitted(Covariance covariance, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps) {
    const auto width = covariance.inverse_scales.size();
    const auto rows = to_array(points, width);
    const VectorXd targets = Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
    std::vector<double> step_size(width + 1, 0.2);  // the step in the logarithm of each scale and, last, of the noise
    std::vector<double> previous(width + 1, 0.0);
    for (int step = 0; step < steps; ++step) {
        const auto slopes = gradient(covariance, prior, rows, targets);
        for (std::size_t f = 0; f <= width; ++f) {
            auto slope = slopes[static_cast<Index>(f)];
            const auto agreement = slope * previous[f];
            if (agreement > 0) step_size[f] = std::min(step_size[f] * 1.3, 1.0);
            if (agreement < 0) {  // the last step passed the minimum: skip one step, then take half the step
                step_size[f] *= 0.5;
                slope = 0;
            }
            previous[f] = slope;
            if (slope == 0) continue;
            const auto factor = std::exp(slope > 0 ? -step_size[f] : step_size[f]);
            if (f < width) {
                auto& scale = covariance.inverse_scales[f];
                scale = std::clamp(scale * factor, 0.005, 50.0);
            } else {
                covariance.noise = std::clamp(covariance.noise * factor, 1e-4, 1.0);
            }
        }
    }
    return covariance;
}

// Let K = L L' be the covariances of the points, y their values, and C the covariances between points and candidates.
// The mean at the candidates is (L^-1 C)' (L^-1 y). L^-1 C has a row for each point and a column for each candidate.
// The square of each element is how much the point reduces the variance at the candidate.
struct Posterior::State {
    Covariance covariance;
    ArrayXXf candidates;   // the candidates' coordinates, one row for each candidate
    ArrayXf variance;      // the variance at each candidate
    Index count = 0;       // number of points; `points`, `factor` and `explained` have room for more
    ArrayXXf points;       // the points' coordinates, one row for each point
    MatrixXd factor;       // the transpose of L, so that a row of L is contiguous
    MatrixXf explained{};  // the transpose of L^-1 C: one column for each point

    State(Covariance given, const Rows& rows)
        : covariance(std::move(given)),
          candidates(to_array(rows, covariance.inverse_scales.size())),
          variance(ArrayXf::Ones(candidates.rows())),
          points(0, candidates.cols()) {}

    void reserve(Index wanted) {
        if (wanted <= points.rows()) return;
        const auto room = std::max<Index>(64, 2 * points.rows());
        points.conservativeResize(room, Eigen::NoChange);
        factor.conservativeResizeLike(MatrixXd::Zero(room, room));
        explained.conservativeResize(candidates.rows(), room);
    }
};

Posterior::Posterior(Covariance covariance, const Rows& candidates)
    : state_(std::make_unique<State>(std::move(covariance), candidates)) {}
Posterior::~Posterior() = default;
Posterior::Posterior(Posterior&&) noexcept = default;
Posterior& Posterior::operator=(Posterior&&) noexcept = default;

void Posterior::add(const std::vector<float>& point) {
    auto& s = *state_;
    const auto n = s.count;
    s.reserve(n + 1);
    VectorXd row = covariances<double>(s.covariance, s.points.topRows(n), point.data());
    s.factor.topLeftCorner(n, n).triangularView<Eigen::Upper>().transpose().solveInPlace(row);
    const auto pivot = std::sqrt(std::max(1 + s.covariance.noise - row.squaredNorm(), least_pivot));
    auto explained = s.explained.col(n);
    explained = covariances<float>(s.covariance, s.candidates, point.data()).matrix();
    explained.noalias() -= s.explained.leftCols(n) * row.cast<float>();
    explained /= static_cast<float>(pivot);
    s.variance -= explained.array().square();
    s.factor.col(n).head(n) = row;
    s.factor(n, n) = pivot;
    s.points.row(n) = Eigen::Map<const Eigen::RowVectorXf>(point.data(), s.points.cols());
    ++s.count;
}

Posterior::Prediction Posterior::predict(const std::vector<std::optional<double>>& values) const {
    const auto& s = *state_;
    VectorXd whitened = VectorXd::Zero(s.count);  // this is L^-1 y
    for (Index i = 0; i < s.count; ++i) {
        const auto& value = values[static_cast<std::size_t>(i)];
        if (!value) continue;  // a pending value equals the predicted mean, so its whitened value is 0
        whitened[i] = (*value - s.factor.col(i).head(i).dot(whitened.head(i))) / s.factor(i, i);
    }
    const auto candidates = static_cast<std::size_t>(s.candidates.rows());
    Prediction result{std::vector<float>(candidates), std::vector<float>(candidates)};
    Eigen::Map<VectorXf>(result.mean.data(), s.candidates.rows()).noalias() =
        s.explained.leftCols(s.count) * whitened.cast<float>();
    Eigen::Map<ArrayXf>(result.variance.data(), s.candidates.rows()) = s.variance.max(least_variance);
    return result;
}

}  // namespace smemtune
