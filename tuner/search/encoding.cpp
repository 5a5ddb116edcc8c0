#include "tuner/search/encoding.h"

#include <algorithm>
#include <bit>

#include "templates/space/value.h"

namespace smemtune {

namespace {

constexpr double rank_scale = 1.0;
constexpr double alignment_scale = 0.5;

// Scales the numbers linearly to [0, 1].
std::vector<float> to_unit(const std::vector<float>& numbers) {
    const auto [low, high] = std::ranges::minmax(numbers);
    auto unit = numbers;
    for (auto& each : unit) each = high > low ? (each - low) / (high - low) : 0.0F;
    return unit;
}

// How often the value can be halved without a remainder. The value 0 gets alignment 0, because it usually means "off"
// and is not similar to any other value.
float alignment(std::int64_t value) {
    return value == 0 ? 0.0F : static_cast<float>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

}  // namespace

Encoding::Encoding(FeatureCache& cache) : cache_(cache) {
    for (std::size_t i = 0; i < cache_.space().parameters().size(); ++i) add_parameter(i);
    if (cache_.space().size() > 0 && cache_.has_any()) add_features();
}

void Encoding::add_parameter(std::size_t parameter) {
    const auto& values = cache_.space().parameters()[parameter].values;
    if (values.size() < 2) return;
    auto sorted = values;
    std::ranges::sort(sorted);
    std::vector<float> ranks;
    std::vector<float> alignments;
    for (const auto value : values) {
        ranks.push_back(static_cast<float>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
        alignments.push_back(alignment(value));
    }
    const auto add = [&](const std::vector<float>& encoded, double rate) {
        columns_.push_back({parameter, encoded});
        inverse_scales_.push_back(rate);
    };
    if (std::ranges::any_of(values, is_text_value)) {
        // Texts have no order. Each text gets its own column, so that any two texts are equally far apart.
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::vector<float> is_value(values.size(), 0.0F);
            is_value[i] = 1.0F;
            add(is_value, rank_scale);
        }
        return;
    }
    add(to_unit(ranks), rank_scale);
    const auto [least, most] = std::ranges::minmax(alignments);
    // If there are only two values, or only consecutive powers of two, the alignments would add nothing to the ranks.
    if (values.size() > 2 && most > least && to_unit(alignments) != to_unit(ranks)) {
        add(to_unit(alignments), alignment_scale);
    }
}

void Encoding::add_features() {
    constexpr std::size_t sample = 512;
    const auto size = cache_.space().size();
    const auto count = std::min(sample, size);
    for (std::size_t i = 0; i < count; ++i) {
        const auto numbers = features(i * size / count);
        samples_.resize(numbers.size());
        for (std::size_t k = 0; k < numbers.size(); ++k) samples_[k].push_back(numbers[k]);
    }
    for (auto& each : samples_) {
        std::ranges::sort(each);
        inverse_scales_.push_back(rank_scale);
    }
}

std::vector<double> Encoding::features(std::size_t index) const {
    auto numbers = cache_.features(index);
    if (cache_.has_estimate()) numbers.push_back(cache_.estimate(index));
    return numbers;
}

std::vector<float> Encoding::encode(std::size_t index) const {
    std::vector<float> row;
    row.reserve(inverse_scales_.size());
    const auto point = cache_.space().point(index);
    for (const auto& column : columns_) row.push_back(column.encoded[point[column.parameter]]);
    if (samples_.empty()) return row;
    const auto numbers = features(index);
    for (std::size_t k = 0; k < samples_.size(); ++k) {
        const auto& sample = samples_[k];
        const auto smaller = std::ranges::lower_bound(sample, numbers[k]) - sample.begin();
        row.push_back(static_cast<float>(smaller) / static_cast<float>(sample.size()));
    }
    return row;
}

}  // namespace smemtune
