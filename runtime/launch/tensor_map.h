// Tensor maps describe a matrix to Hopper's copy engine, the Tensor Memory Accelerator (CUDA Driver API, "Tensor Map
// Object Management").
#pragma once

#include <array>
#include <cstdint>

#include "templates/launch/launch.h"

namespace smemtune {

/// Has the size and alignment of CUtensorMap, so that no CUDA header is needed.
struct alignas(128) EncodedTensorMap {
    std::array<std::uint64_t, 16> words;
};

/// Encodes the map of a matrix at `address` whose rows start `stride` elements apart. The copy engine requires that the
/// address and the stride in bytes are multiples of 16. If either is not, or if the address is null, the map is all
/// zeros, and the kernel must not use it. Throws LaunchError if the driver refuses the map or has no tensor maps.
void encode_tensor_map(EncodedTensorMap& to, const TensorMapArgument& map, void* address, std::int64_t stride);

/// If `to` is all zeros and the kernel copies the matrix to the workspace (TensorMapArgument::copy_at), encodes the map
/// of that copy to `to`. Otherwise does nothing. `workspace` is the workspace's address.
void encode_map_of_copy(EncodedTensorMap& to, const TensorMapArgument& map, void* workspace);

}  // namespace smemtune
