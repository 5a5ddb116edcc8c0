// Arrays of operands in host memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

/// Copies the content of device memory to the host.
std::vector<std::byte> host_copy(Backend& backend, const Memory& memory);

/// Returns the numbers of an array, one after another, without padding and guard bands. `memory` is a copy of the
/// array's whole memory.
std::vector<std::byte> dense_numbers(const MatrixOperand& matrix, std::span<const std::byte> memory);

/// Copies `numbers`, without padding, to `to`, the reference of `output`. `type` is the output's type or f64.
/// Precondition: there are as many numbers as in the output.
void store_reference(Backend& backend, const MatrixOperand& output, const NumberType& type,
                     std::span<const std::byte> numbers, const OutputReference& to);

}  // namespace smemtune
