// The operands for timing: sets that launches use in rotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/trial/operands.h"

namespace smemtune {

/// Sets of operands that launches use one after another, so that no launch finds its operands in the L2 cache.
/// `factory` must outlive it.
class RotatingOperands {
public:
    /// The first set has the inputs that `factory` makes from `check` and `seed`; each further one, those of `step`
    /// more.
    RotatingOperands(OperandFactory& factory, const Check& check, int sets, std::uint64_t seed, std::uint64_t step)
        : factory_(factory), check_(check), count_(sets), seed_(seed), step_(step) {}

    /// Allocates all sets, or none if memory is short. Returns false if they existed already. Throws OutOfMemory.
    bool ensure();
    /// The set for the next launch. With `rotate`, the launch after it uses a different set. Precondition: ensure().
    const Operands& next(bool rotate);
    /// Set `i` of count(). Precondition: ensure().
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
