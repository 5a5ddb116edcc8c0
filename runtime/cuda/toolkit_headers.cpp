#include "runtime/cuda/toolkit_headers.h"

#include <filesystem>

namespace smemtune {

std::vector<std::string> toolkit_include_folders(const std::vector<std::string>& toolkits, const std::string& library) {
    namespace fs = std::filesystem;
    std::vector<fs::path> roots(toolkits.begin(), toolkits.end());
    if (!library.empty()) {
        std::error_code error;
        const auto real = fs::canonical(library, error);
        if (!error) {
            for (auto folder = real.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
                roots.push_back(folder);  // all folders above `library`, which may be in targets/x86_64-linux/lib
            }
        }
    }
    roots.emplace_back(SMEMTUNE_CUDA_ROOT);
    roots.emplace_back("/usr/local/cuda");
    for (const auto& root : roots) {
        std::error_code error;
        const auto include = root / "include";
        if (root.empty() || !fs::exists(include / "cuda_fp16.h", error)) continue;
        std::vector<std::string> folders{include.string()};
        // From CUDA 13 on, the headers of cub, thrust and libcu++ are in a folder `cccl`.
        if (fs::exists(include / "cccl", error)) folders.push_back((include / "cccl").string());
        return folders;
    }
    return {};
}

const std::map<std::string, std::string>& stand_in_headers() {
    static const std::string integers = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t, int_fast8_t;
typedef uint8_t uint_least8_t, uint_fast8_t;
typedef long long intptr_t, intmax_t;
typedef unsigned long long uintptr_t, uintmax_t;
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-9223372036854775807LL - 1)
#define UINT64_MAX 18446744073709551615ULL
)";
    static const std::string limits = R"(#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define ULLONG_MAX 18446744073709551615ULL
)";
    static const std::string floats = R"(#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
)";
    static const std::string mathematics = R"(#pragma once
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
)";
    // Replaces the toolkit's cub/cub.cuh, which also declares host functions. NVRTC refuses these.
    static const std::string cub = R"(#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
)";
    static const std::string nothing = "#pragma once\n";
    static const std::map<std::string, std::string> headers{
        {"stdint.h", integers},  {"inttypes.h", integers}, {"limits.h", limits},  {"float.h", floats},
        {"math.h", mathematics}, {"stdio.h", nothing},     {"stdlib.h", nothing}, {"string.h", nothing},
        {"stddef.h", nothing},   {"cub/cub.cuh", cub}};
    return headers;
}

}  // namespace smemtune
