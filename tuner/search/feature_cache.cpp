#include "tuner/search/feature_cache.h"

#include <cmath>
#include <limits>

namespace smemtune {

namespace {

double ordered(double number) { return std::isnan(number) ? std::numeric_limits<double>::infinity() : number; }

}  // namespace

double FeatureCache::estimate(std::size_t index) {
    auto& known = answers_[index].estimate;
    if (!known) known = ordered(setup_.estimate(space()[index]));
    return *known;
}

const std::vector<double>& FeatureCache::features(std::size_t index) {
    auto& known = answers_[index].features;
    if (!known) {
        known = setup_.features ? setup_.features(space()[index]) : std::vector<double>{};
        for (auto& number : *known) number = ordered(number);
    }
    return *known;
}

}  // namespace smemtune
