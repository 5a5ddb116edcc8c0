// The operands for timing: sets that launches use in rotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/trial/operands.h"

namespace smemtune {

/// Sets of operands that launches use one after another, so that launches do not find their operands in the L2 cache.
/// The operands of small problems may stay in the cache, because the number of sets is limited (rotating_sets()).
/// `factory` and `check` must outlive the object.
class RotatingOperands {
public:
    /// `factory` makes the first set from `check` and `seed`. For each further set, the seed increases by `step`.
    RotatingOperands(OperandFactory& factory, const Check& check, int sets, std::uint64_t seed, std::uint64_t step)
        : factory_(factory), check_(check), count_(sets), seed_(seed), step_(step) {}

    /// Allocates all sets, or none if memory is short. Returns false if the sets existed already. Throws OutOfMemory.
    bool ensure();
    /// Returns the set for the next launch. If `rotate` is true, the next call returns the set after it.
    /// Precondition: ensure() was called.
    const Operands& next(bool rotate);
    /// Returns set `i` of count(). Precondition: ensure() was called.
    [[nodiscard]] const Operands& set(int i) const { return *sets_.at(static_cast<std::size_t>(i)); }
    /// Frees the sets.
    void clear();
    /// The number of sets, allocated or not.
    [[nodiscard]] int count() const { return count_; }

private:
    OperandFactory& factory_;
    const Check& check_;
    int count_;
    std::uint64_t seed_, step_;
    std::vector<std::unique_ptr<Operands>> sets_;
    std::size_t next_ = 0;
};

}  // namespace smemtune
