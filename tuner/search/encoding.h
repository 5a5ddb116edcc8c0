// Encodes the points of a space as rows of numbers in [0, 1], so that a model can compute distances.
#pragma once

#include <vector>

#include "tuner/search/feature_cache.h"

namespace smemtune {

/// Each parameter gives a column with the rank of its value and, if that differs, a column with the value's alignment:
/// the number of times it can be halved. (96 is next to 80, but may perform like 64.) The setup's features and its
/// estimate are encoded by their rank too, so their scale does not matter: the share of a sample that is smaller.
class Encoding {
public:
    /// Keeps a reference to `cache`.
    explicit Encoding(FeatureCache& cache);

    /// For each column, the prior of one over its length scale (see Covariance).
    [[nodiscard]] const std::vector<double>& inverse_scales() const { return inverse_scales_; }
    /// As long as inverse_scales().
    [[nodiscard]] std::vector<float> encode(std::size_t index) const;

private:
    struct ParameterColumn {
        std::size_t parameter;
        std::vector<float> encoded;  // each of its values
    };
    void add_parameter(std::size_t parameter);
    void add_features();
    [[nodiscard]] std::vector<double> features(std::size_t index) const;

    FeatureCache& cache_;
    std::vector<ParameterColumn> columns_;
    std::vector<std::vector<double>> samples_;  // of each feature, and last of the estimate; sorted
    std::vector<double> inverse_scales_;
};

}  // namespace smemtune
