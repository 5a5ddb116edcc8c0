#include "tuner/search/stopping.h"

#include <algorithm>

namespace smemtune {

void Stopping::add(std::optional<double> cost) {
    ++evaluations_;
    if (cost) best_ = best_ ? std::min(*best_, *cost) : *cost;
    if (cost && (!to_beat_ || *cost < *to_beat_ * (1 - policy_.gain))) {
        to_beat_ = *cost;
        found_at_ = evaluations_;
    }
    was_unlikely_ = was_unlikely_ || gain_is_unlikely();
}

bool Stopping::gain_is_unlikely() const {
    if (!best_) return false;  // no configuration was valid so far
    return evaluations_ - found_at_ >= policy_.patience &&
           static_cast<double>(evaluations_) >= policy_.persistence * static_cast<double>(found_at_);
}

}  // namespace smemtune
