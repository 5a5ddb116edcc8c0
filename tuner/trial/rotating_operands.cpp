#include "tuner/trial/rotating_operands.h"

namespace smemtune {

bool RotatingOperands::ensure() {
    if (!sets_.empty()) return false;
    decltype(sets_) sets;
    for (int i = 0; i < count_; ++i) {
        sets.push_back(factory_.make(check_, seed_ + step_ * static_cast<std::uint64_t>(i), seed_));
    }
    sets_ = std::move(sets);
    return true;
}

const Operands& RotatingOperands::next(bool rotate) {
    const auto& set = *sets_[next_];
    if (rotate) next_ = (next_ + 1) % sets_.size();
    return set;
}

void RotatingOperands::clear() {
    sets_.clear();
    next_ = 0;
}

}  // namespace smemtune
