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

/// Stores `numbers` in `to`, which is the reference of `output`. The numbers have the type `type` (the output's type or
/// f64) and no padding between them. Precondition: there are as many numbers as in the output.
void store_reference(Backend& backend, const MatrixOperand& output, const NumberType& type,
                     std::span<const std::byte> numbers, const OutputReference& to);

}  // namespace smemtune
