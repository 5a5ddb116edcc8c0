// Arrays of operands in host memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

/// The content of a device's memory.
std::vector<std::byte> host_copy(Backend& backend, const Memory& memory);

/// The numbers of an array, one after another, without the rest of its memory. `memory`: a copy of all of it.
std::vector<std::byte> dense_numbers(const MatrixOperand& matrix, std::span<const std::byte> memory);

/// Copies dense numbers of `type`, the output's or f64, to the reference of `output`. Precondition: their number is
/// that of the output.
void store_reference(Backend& backend, const MatrixOperand& output, const NumberType& type,
                     std::span<const std::byte> numbers, const OutputReference& to);

}  // namespace smemtune
