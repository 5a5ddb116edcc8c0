// Encodes the points of a space as rows of numbers in [0, 1], so that a model can compute distances.
#pragma once

#include <vector>

#include "tuner/search/feature_cache.h"

namespace smemtune {

/// Each parameter gives a column with the rank of its value and, if that differs, a column with the value's alignment:
/// how often it can be halved. (96 is next to 80, but may perform like 32: both can be halved five times.) The setup's
/// features and its estimate are also encoded by rank, so their scale does not matter: the number is the share of a
/// sample's values that are smaller.
class Encoding {
public:
    /// Keeps a reference to `cache`, which must outlive it.
    explicit Encoding(FeatureCache& cache);

    /// The prior of each column's inverse length scale (see Covariance).
    [[nodiscard]] const std::vector<double>& inverse_scales() const { return inverse_scales_; }
    /// The encoded columns of configuration `index`, as many as inverse_scales().
    [[nodiscard]] std::vector<float> encode(std::size_t index) const;

private:
    struct ParameterColumn {
        std::size_t parameter;
        std::vector<float> encoded;  // of each value
    };
    void add_parameter(std::size_t parameter);
    void add_features();
    [[nodiscard]] std::vector<double> features(std::size_t index) const;

    FeatureCache& cache_;
    std::vector<ParameterColumn> columns_;
    std::vector<std::vector<double>> samples_;  // sorted sample of each feature and, last, of the estimate
    std::vector<double> inverse_scales_;
};

}  // namespace smemtune
