// Encodes the points of a space as rows of numbers in [0, 1], so that a model can compute distances between points.
#pragma once

#include <vector>

#include "tuner/search/feature_cache.h"

namespace smemtune {

/// A parameter with numeric values gets two columns. The first holds the rank of the value. The second holds the
/// value's alignment: how often the value can be halved without a remainder. (96 is next to 80, but may perform like
/// 32, because both 96 and 32 can be halved five times.) The second column is left out if it would repeat the first.
/// A parameter whose values are texts gets one column for each text. Each feature of the SearchSetup gets one column,
/// and so does the estimate. The columns of features and estimate also hold ranks: the share of a sample of points
/// that has a smaller value. So the scale of a feature does not matter.
class Encoding {
public:
    /// Keeps a reference to `cache`, which must outlive this Encoding.
    explicit Encoding(FeatureCache& cache);

    /// The inverse length scale of each column before any fit (see Covariance).
    [[nodiscard]] const std::vector<double>& inverse_scales() const { return inverse_scales_; }
    /// Returns the encoded configuration `index`: one number for each entry of inverse_scales().
    [[nodiscard]] std::vector<float> encode(std::size_t index) const;

private:
    struct ParameterColumn {
        std::size_t parameter;
        std::vector<float> encoded;  // the encoded numbers, one for each value of the parameter
    };
    void add_parameter(std::size_t parameter);
    void add_features();
    [[nodiscard]] std::vector<double> features(std::size_t index) const;

    FeatureCache& cache_;
    std::vector<ParameterColumn> columns_;
    std::vector<std::vector<double>> samples_;  // a sorted sample of each feature and, last, of the estimate
    std::vector<double> inverse_scales_;
};

}  // namespace smemtune
