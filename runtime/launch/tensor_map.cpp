#include "runtime/launch/tensor_map.h"

#include <cuda.h>

#include <string>

#include "runtime/backend.h"
#include "runtime/cuda/driver_function.h"

namespace smemtune {

static_assert(sizeof(CUtensorMap) == sizeof(EncodedTensorMap) && alignof(CUtensorMap) <= alignof(EncodedTensorMap));

namespace {

// The copy engine only moves elements, so any type of the right size will do.
CUtensorMapDataType data_type(std::int64_t element_bytes) {
    switch (element_bytes) {
        case 1: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
        case 2: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
        case 4: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
        default: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    }
}

CUtensorMapSwizzle swizzle(const TensorMapArgument& map) {
    if (!map.swizzle) return CU_TENSOR_MAP_SWIZZLE_NONE;
    switch (map.box_columns * map.element_bytes) {
        case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
        case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
        case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
        default: break;
    }
    throw LaunchError("a tensor map swizzles rows of " + std::to_string(map.box_columns * map.element_bytes) +
                      " bytes; they must have 32, 64 or 128");
}

}  // namespace

void encode_tensor_map(EncodedTensorMap& to, const TensorMapArgument& map, void* address, std::int64_t stride) {
    to = {};
    constexpr int unit = 16;
    const auto row_bytes = stride * map.element_bytes;
    if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % unit != 0 || row_bytes % unit != 0) return;
    struct Driver {
        decltype(cuTensorMapEncodeTiled)* encode =
            driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    };
    static const Driver driver;
    if (driver.encode == nullptr)
        throw LaunchError("the CUDA driver has no tensor maps; install one of CUDA 12.0 or newer");
    const std::array extents{static_cast<cuuint64_t>(map.columns), static_cast<cuuint64_t>(map.rows)};
    const std::array strides{static_cast<cuuint64_t>(row_bytes)};
    const std::array box{static_cast<cuuint32_t>(map.box_columns), static_cast<cuuint32_t>(map.box_rows)};
    const std::array<cuuint32_t, 2> every_element{1, 1};
    const auto result =
        driver.encode(reinterpret_cast<CUtensorMap*>(&to), data_type(map.element_bytes), 2, address, extents.data(),
                      strides.data(), box.data(), every_element.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle(map),
                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return;
    throw LaunchError("the driver refuses a tensor map with tiles of " + std::to_string(map.box_rows) + "x" +
                      std::to_string(map.box_columns) + " elements of a matrix of " + std::to_string(map.rows) + "x" +
                      std::to_string(map.columns) + " (error " + std::to_string(result) +
                      "): a tile has at most 256 rows and 256 columns");
}

void encode_map_of_copy(EncodedTensorMap& to, const TensorMapArgument& map, void* workspace) {
    if (!map.copy_at || workspace == nullptr || to.words != EncodedTensorMap{}.words) return;
    encode_tensor_map(to, map, static_cast<std::byte*>(workspace) + *map.copy_at,
                      map.row_bytes_of_copy() / map.element_bytes);
}

}  // namespace smemtune
