// Tensor maps: what Hopper's copy engine must know of a matrix (CUDA Driver API, "Tensor Map Object Management").
#pragma once

#include <array>
#include <cstdint>

#include "templates/launch/launch.h"

namespace smemtune {

/// A CUtensorMap.
struct alignas(128) EncodedTensorMap {
    std::array<std::uint64_t, 16> words;
};

/// Makes the map of a matrix at `address` with `stride` elements between its rows. The copy engine needs an address and
/// rows that are multiples of 16 bytes apart; without them, and for a null address, the map is zeros, and the kernel
/// must not use it. Throws LaunchError if the driver refuses the tile or has no tensor maps.
void encode_tensor_map(EncodedTensorMap& to, const TensorMapArgument& map, void* address, std::int64_t stride);

/// If the map is zeros and the kernel copies the matrix (TensorMapArgument::copy_at), makes the map of the copy in
/// `workspace`.
void encode_map_of_copy(EncodedTensorMap& to, const TensorMapArgument& map, void* workspace);

}  // namespace smemtune
