#include "tuner/search/encoding.h"

#include <algorithm>
#include <bit>

namespace smemtune {

namespace {

constexpr double rank_rate = 1.0;
constexpr double alignment_rate = 0.5;

std::vector<float> to_unit(const std::vector<float>& places) {
    const auto [low, high] = std::ranges::minmax(places);
    auto unit = places;
    for (auto& place : unit) place = high > low ? (place - low) / (high - low) : 0.0F;
    return unit;
}

// 0 counts as odd: it commonly means "off", which is like nothing else.
float alignment(std::int64_t value) {
    return value == 0 ? 0.0F : static_cast<float>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

}  // namespace

Encoding::Encoding(Hints& hints) : hints_(hints) {
    for (std::size_t i = 0; i < hints_.space().parameters().size(); ++i) add_views(i);
    if (hints_.space().size() > 0 && hints_.has_any()) add_extras();
}

void Encoding::add_views(std::size_t parameter) {
    const auto& values = hints_.space().parameters()[parameter].values;
    if (values.size() < 2) return;
    auto sorted = values;
    std::ranges::sort(sorted);
    std::vector<float> ranks;
    std::vector<float> alignments;
    for (const auto value : values) {
        ranks.push_back(static_cast<float>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
        alignments.push_back(alignment(value));
    }
    const auto add = [&](const std::vector<float>& places, double rate) {
        views_.push_back({parameter, places});
        rates_.push_back(rate);
    };
    add(to_unit(ranks), rank_rate);
    const auto [least, most] = std::ranges::minmax(alignments);
    // Of two values, and of powers of two, the alignment is the rank again.
    if (values.size() > 2 && most > least && to_unit(alignments) != to_unit(ranks)) {
        add(to_unit(alignments), alignment_rate);
    }
}

void Encoding::add_extras() {
    constexpr std::size_t sample = 512;
    const auto size = hints_.space().size();
    const auto count = std::min(sample, size);
    for (std::size_t i = 0; i < count; ++i) {
        const auto numbers = extras(i * size / count);
        samples_.resize(numbers.size());
        for (std::size_t k = 0; k < numbers.size(); ++k) samples_[k].push_back(numbers[k]);
    }
    for (auto& each : samples_) {
        std::ranges::sort(each);
        rates_.push_back(rank_rate);
    }
}

std::vector<double> Encoding::extras(std::size_t index) const {
    auto numbers = hints_.features(index);
    if (hints_.has_estimate()) numbers.push_back(hints_.estimate(index));
    return numbers;
}

std::vector<float> Encoding::encode(std::size_t index) const {
    std::vector<float> row;
    row.reserve(rates_.size());
    const auto point = hints_.space().point(index);
    for (const auto& view : views_) row.push_back(view.places[point[view.parameter]]);
    if (samples_.empty()) return row;
    const auto numbers = extras(index);
    for (std::size_t k = 0; k < samples_.size(); ++k) {
        const auto& sample = samples_[k];
        const auto below = std::ranges::lower_bound(sample, numbers[k]) - sample.begin();
        row.push_back(static_cast<float>(below) / static_cast<float>(sample.size()));
    }
    return row;
}

}  // namespace smemtune
