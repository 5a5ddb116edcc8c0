// The operands that candidates are timed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/trial/operands.h"

namespace smemtune {

/// Sets of operands that launches take in turn, so that none finds its own in the L2 cache. `factory` must outlive it.
class RotatingOperands {
public:
    RotatingOperands(OperandFactory& factory, const Check& check, int sets, std::uint64_t seed)
        : factory_(factory), check_(check), count_(sets), seed_(seed) {}

    /// Makes all sets or, without the memory for that, none. False when they were there already. Throws OutOfMemory.
    bool ensure();
    /// The set of the next launch; with `rotate`, the launch after it takes another one. Precondition: ensure().
    const Operands& next(bool rotate);
    /// Frees the sets.
    void clear();
    /// How many sets there are, or will be.
    [[nodiscard]] int count() const { return count_; }

private:
    OperandFactory& factory_;
    const Check& check_;
    int count_;
    std::uint64_t seed_;
    std::vector<std::unique_ptr<Operands>> sets_;
    std::size_t next_ = 0;
};

}  // namespace smemtune
