#include "templates/predict/time_model.h"

namespace smemtune {

Terms TimeModel::shares(const Terms& terms) const {
    Terms result{};
    for (std::size_t i = 0; i < term_count; ++i) result[i] = coefficients[i] * terms[i];
    return result;
}

double TimeModel::predicted_us(const Terms& terms) const {
    double sum = 0;
    for (const double share : shares(terms)) sum += share;
    return sum;
}

}  // namespace smemtune
