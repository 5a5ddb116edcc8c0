#include "tuner/search/gaussian_process.h"

#include <algorithm>
#include <cmath>

namespace smemtune {

namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr double least_pivot = 1e-8;

// The lower triangular factor of a symmetric matrix, of which the lower half is given. Works on whole columns below the
// pivot, stored as rows of the transpose, which is what compilers turn into vector instructions.
Matrix transposed_factor(Matrix upper) {
    const auto n = upper.size();
    for (std::size_t k = 0; k < n; ++k) {
        auto& pivot = upper[k];
        const auto scale = 1 / std::sqrt(std::max(pivot[k], least_pivot));
        for (std::size_t j = k; j < n; ++j) pivot[j] *= scale;
        pivot[k] = 1 / scale;
        for (std::size_t i = k + 1; i < n; ++i) {
            const auto weight = pivot[i];
            auto& row = upper[i];
            for (std::size_t j = i; j < n; ++j) row[j] -= weight * pivot[j];
        }
    }
    return upper;
}

// Row i of the inverse of the lower factor, columns 0 to i.
Matrix inverse(const Matrix& upper) {
    const auto n = upper.size();
    Matrix result(n, std::vector<double>(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) {
        auto& row = result[i];
        row[i] += 1;
        for (std::size_t k = 0; k < i; ++k) {
            const auto weight = upper[k][i];
            const auto& earlier = result[k];
            for (std::size_t j = 0; j <= k; ++j) row[j] -= weight * earlier[j];
        }
        const auto scale = 1 / upper[i][i];
        for (std::size_t j = 0; j <= i; ++j) row[j] *= scale;
    }
    return result;
}

// The lower half of transpose(lower) * lower.
Matrix square(const Matrix& lower) {
    const auto n = lower.size();
    Matrix result(n, std::vector<double>(n, 0.0));
    for (std::size_t r = 0; r < n; ++r) {
        const auto& row = lower[r];
        for (std::size_t i = 0; i <= r; ++i) {
            const auto weight = row[i];
            auto& into = result[i];
            for (std::size_t j = 0; j <= i; ++j) into[j] += weight * row[j];
        }
    }
    return result;
}

std::vector<double> product(const Matrix& lower, const std::vector<double>& values) {
    std::vector<double> result(lower.size(), 0.0);
    for (std::size_t i = 0; i < lower.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) result[i] += lower[i][j] * values[j];
    }
    return result;
}

// The derivatives of the negative logarithm of the posterior density by the logarithms of the rates, and last of the
// noise (Rasmussen and Williams, equation 5.9).
std::vector<double> slope(const Covariance& kernel, const Covariance& prior, const Rows& points,
                          const std::vector<double>& values) {
    const auto n = points.size();
    const auto width = kernel.rates.size();
    Matrix covariance(n, std::vector<double>(n, 0.0));  // the upper half
    for (std::size_t i = 0; i < n; ++i) {
        covariance[i][i] = 1 + kernel.noise;
        for (std::size_t j = i + 1; j < n; ++j) covariance[i][j] = kernel(points[i], points[j]);
    }
    const auto lower = inverse(transposed_factor(covariance));
    const auto precision = square(lower);
    const auto whitened = product(lower, values);
    std::vector<double> weights(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) weights[j] += lower[i][j] * whitened[i];
    }
    std::vector<double> result(width + 1, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        result[width] += 0.5 * (precision[i][i] - weights[i] * weights[i]) * kernel.noise;
        for (std::size_t j = 0; j < i; ++j) {
            const auto pull = (precision[i][j] - weights[i] * weights[j]) * covariance[j][i];
            for (std::size_t f = 0; f < width; ++f) {
                const auto r = kernel.rates[f] * static_cast<double>(std::abs(points[i][f] - points[j][f]));
                result[f] -= pull * r * r / (1 + r);
            }
        }
    }
    for (std::size_t f = 0; f < width; ++f) result[f] += std::log(kernel.rates[f] / prior.rates[f]);
    result[width] += std::log(kernel.noise / prior.noise);
    return result;
}

}  // namespace

double Covariance::operator()(const std::vector<float>& a, const std::vector<float>& b) const {
    double sum = 0;
    double factors = 1;
    for (std::size_t f = 0; f < rates.size(); ++f) {
        const auto r = rates[f] * static_cast<double>(std::abs(a[f] - b[f]));
        sum += r;
        factors *= 1 + r;
    }
    return factors * std::exp(-sum);
}

Covariance fitted(Covariance kernel, const Covariance& prior, const Rows& points, const std::vector<double>& values,
                  int steps) {
    const auto width = kernel.rates.size();
    std::vector<double> size(width + 1, 0.2);  // of the next step, in the logarithm
    std::vector<double> before(width + 1, 0.0);
    for (int step = 0; step < steps; ++step) {
        auto now = slope(kernel, prior, points, values);
        for (std::size_t f = 0; f <= width; ++f) {
            const auto turned = now[f] * before[f];
            if (turned > 0) size[f] = std::min(size[f] * 1.3, 1.0);
            if (turned < 0) {
                size[f] *= 0.5;
                now[f] = 0;  // stays where it is for once
            }
            before[f] = now[f];
            if (now[f] == 0) continue;
            const auto factor = std::exp(now[f] > 0 ? -size[f] : size[f]);
            if (f < width) {
                kernel.rates[f] = std::clamp(kernel.rates[f] * factor, 0.005, 50.0);
            } else {
                kernel.noise = std::clamp(kernel.noise * factor, 1e-4, 1.0);
            }
        }
    }
    return kernel;
}

Posterior::Posterior(Covariance kernel, const Rows& candidates)
    : kernel_(std::move(kernel)), count_(candidates.size()), variance_(candidates.size(), 1.0F) {
    for (std::size_t f = 0; f < kernel_.rates.size(); ++f) {
        auto& column = columns_.emplace_back();
        for (const auto& row : candidates) column.push_back(row[f]);
    }
}

std::vector<float> Posterior::covariances(const std::vector<float>& point) const {
    std::vector<float> sum(count_, 0.0F);
    std::vector<float> factors(count_, 1.0F);
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        const auto rate = static_cast<float>(kernel_.rates[f]);
        const auto own = point[f];
        const auto& column = columns_[f];
        for (std::size_t c = 0; c < count_; ++c) {
            const auto r = rate * std::abs(column[c] - own);
            sum[c] += r;
            factors[c] *= 1 + r;
        }
    }
    for (std::size_t c = 0; c < count_; ++c) factors[c] *= std::exp(-sum[c]);
    return factors;
}

void Posterior::add(const std::vector<float>& point) {
    const auto n = points_.size();
    std::vector<double> row(n + 1);
    double pivot = 1 + kernel_.noise;
    for (std::size_t i = 0; i < n; ++i) {
        auto rest = kernel_(points_[i], point);
        for (std::size_t k = 0; k < i; ++k) rest -= row[k] * factor_[i][k];
        row[i] = rest / factor_[i][i];
        pivot -= row[i] * row[i];
    }
    row[n] = std::sqrt(std::max(pivot, least_pivot));
    auto explained = covariances(point);
    for (std::size_t i = 0; i < n; ++i) {
        const auto weight = static_cast<float>(row[i]);
        const auto& earlier = explained_[i];
        for (std::size_t c = 0; c < count_; ++c) explained[c] -= weight * earlier[c];
    }
    const auto scale = static_cast<float>(1 / row[n]);
    for (std::size_t c = 0; c < count_; ++c) {
        explained[c] *= scale;
        variance_[c] -= explained[c] * explained[c];
    }
    points_.push_back(point);
    factor_.push_back(std::move(row));
    explained_.push_back(std::move(explained));
}

Posterior::Prediction Posterior::predict(const std::vector<std::optional<double>>& values) const {
    Prediction result{std::vector<float>(count_, 0.0F), variance_};
    std::vector<double> whitened(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!values[i]) continue;  // as expected: nothing to add to the mean
        auto rest = *values[i];
        for (std::size_t k = 0; k < i; ++k) rest -= factor_[i][k] * whitened[k];
        whitened[i] = rest / factor_[i][i];
        const auto weight = static_cast<float>(whitened[i]);
        for (std::size_t c = 0; c < count_; ++c) result.mean[c] += weight * explained_[i][c];
    }
    for (auto& variance : result.variance) variance = std::max(variance, 1e-6F);
    return result;
}

}  // namespace smemtune
