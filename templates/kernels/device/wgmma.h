// wgmma, the instruction of Hopper's tensor cores (compute capability 9.0 only; PTX ISA, "wgmma"). A warpgroup executes
// it: four consecutive warps, starting with a warp whose index is a multiple of 4. The instruction multiplies two tiles
// in shared memory, or a left tile in registers by a right tile in shared memory. It is asynchronous: the warpgroup
// goes on while the tensor cores work.
//
// Order of calls:  fence_sums();  multiply_tiles(...) or multiply_rows(...) several times;  commit_products();
//                  wait_for_products<...>();  keep_order(...), before the sums are read
#pragma once

#include "device/mbarrier.h"

/// If a thread has written registers of `sums` or `rows`, it must call this function before it passes them to
/// multiply_tiles or multiply_rows.
__device__ __forceinline__ void fence_sums() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Makes one group of all products (multiply_tiles, multiply_rows) that were started since the last commit_products().
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until all groups of products are complete except the newest `pending` ones.
template <int pending>
__device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Keeps the compiler from moving reads of the sums ahead of wait_for_products. Must be called after wait_for_products
/// and before the sums are read.
template <int count>
__device__ __forceinline__ void keep_order(float (&sums)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

/// Returns the descriptor of a tile in shared memory, as wgmma needs it. The tile consists of lines of 128 bytes. Eight
/// lines are a group of 1024 bytes, aligned to 1024 bytes. The groups follow one another. The lines have the copy
/// engine's swizzle of 128 bytes: chunk c (16 bytes) of line l of a group is at place c ^ l of the line.
///
///     lines along K (A in nn, nt; B in nt, tt)         a line is 128 bytes along K; `next` is not used
///     lines along M or N (A in tn, tt; B in nn, tn)    a line is 64 elements of one k-step; the next 64 elements of
///                                                      the k-step start `next` bytes later
__device__ __forceinline__ unsigned long long describe_tile(unsigned address, int next) {
    constexpr unsigned long long swizzle_of_128_bytes = 1ULL << 62;
    return swizzle_of_128_bytes | 1024ULL / 16 << 32 | static_cast<unsigned long long>(next / 16) << 16 |
           (address & 0x3ffffU) / 16;
}

// These macros write the text of the instruction. Its operands 0, 1, 2, ... are the sums.
#define SMEMTUNE_TEN(tens)                                                                                            \
    "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens "7, %" #tens \
    "8, %" #tens "9"
#define SMEMTUNE_THIRTY(a, b, c) SMEMTUNE_TEN(a) ", " SMEMTUNE_TEN(b) ", " SMEMTUNE_TEN(c)
#define SMEMTUNE_FIRST_30 SMEMTUNE_THIRTY(, 1, 2)
#define SMEMTUNE_FIRST_60 SMEMTUNE_FIRST_30 ", " SMEMTUNE_THIRTY(3, 4, 5)
#define SMEMTUNE_FIRST_90 SMEMTUNE_FIRST_60 ", " SMEMTUNE_THIRTY(6, 7, 8)
#define SMEMTUNE_FIRST_120 SMEMTUNE_FIRST_90 ", " SMEMTUNE_THIRTY(9, 10, 11)
#define SMEMTUNE_EIGHT_SUMS(i)                                                                                    \
    "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
        "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define SMEMTUNE_SUMS_16(i) SMEMTUNE_EIGHT_SUMS(i), SMEMTUNE_EIGHT_SUMS(i + 8)
#define SMEMTUNE_SUMS_32(i) SMEMTUNE_SUMS_16(i), SMEMTUNE_SUMS_16(i + 16)
#define SMEMTUNE_WGMMA(columns, type, registers, a, b, add, turn_a, turn_b, ...)                                \
    asm volatile(                                                                                               \
        "{\n"                                                                                                   \
        ".reg .pred adds;\n"                                                                                    \
        "setp.ne.b32 adds, %" #add                                                                              \
        ", 0;\n"                                                                                                \
        "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" registers "}, %" #a ", %" #b \
        ", adds, 1, 1, %" #turn_a ", %" #turn_b                                                                 \
        ";\n"                                                                                                   \
        "}"                                                                                                     \
        : __VA_ARGS__                                                                                           \
        : "l"(tile_a), "l"(tile_b), "r"(adds), "n"(A_ALONG_M), "n"(B_ALONG_N))

/// sums += a * b, where a is 64 x 16 and b is 16 x COLUMNS. If `adds` is 0, sums = a * b. `tile_a` and `tile_b` come
/// from describe_tile. The next 16 k-steps of a tile start 32 bytes later if its lines are along K, and 16 lines later
/// otherwise. Lane 4 * g + t of warp w of the warpgroup has these elements of the result:
///
///     sums[4 * j], sums[4 * j + 1]        row 16 * w + g,      columns 8 * j + 2 * t and 8 * j + 2 * t + 1
///     sums[4 * j + 2], sums[4 * j + 3]    row 16 * w + g + 8,  the same columns
template <class T, int COLUMNS, int A_ALONG_M, int B_ALONG_N>
__device__ __forceinline__ void multiply_tiles(float (&sums)[COLUMNS / 2], unsigned long long tile_a,
                                               unsigned long long tile_b, int adds) {
    static_assert(sizeof(T) == 2, "other types have other depths");
#define SMEMTUNE_FOR_TYPE(columns, registers, a, b, add, turn_a, turn_b, ...)               \
    if constexpr (COLUMNS == columns && T::significand_bits == 11) {                        \
        SMEMTUNE_WGMMA(columns, "f16", registers, a, b, add, turn_a, turn_b, __VA_ARGS__);  \
    } else if constexpr (COLUMNS == columns) {                                              \
        SMEMTUNE_WGMMA(columns, "bf16", registers, a, b, add, turn_a, turn_b, __VA_ARGS__); \
    }
    // clang-format off
    SMEMTUNE_FOR_TYPE(32, SMEMTUNE_TEN() ", %10, %11, %12, %13, %14, %15",
                      16, 17, 18, 19, 20, SMEMTUNE_SUMS_16(0))
    SMEMTUNE_FOR_TYPE(64, SMEMTUNE_FIRST_30 ", %30, %31",
                      32, 33, 34, 35, 36, SMEMTUNE_SUMS_32(0))
    SMEMTUNE_FOR_TYPE(96, SMEMTUNE_FIRST_30 ", " SMEMTUNE_TEN(3) ", %40, %41, %42, %43, %44, %45, %46, %47",
                      48, 49, 50, 51, 52, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_16(32))
    SMEMTUNE_FOR_TYPE(128, SMEMTUNE_FIRST_60 ", %60, %61, %62, %63",
                      64, 65, 66, 67, 68, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32))
    SMEMTUNE_FOR_TYPE(160, SMEMTUNE_FIRST_60 ", " SMEMTUNE_TEN(6) ", " SMEMTUNE_TEN(7),
                      80, 81, 82, 83, 84, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32), SMEMTUNE_SUMS_16(64))
    SMEMTUNE_FOR_TYPE(192, SMEMTUNE_FIRST_90 ", %90, %91, %92, %93, %94, %95",
                      96, 97, 98, 99, 100, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32), SMEMTUNE_SUMS_32(64))
    SMEMTUNE_FOR_TYPE(256, SMEMTUNE_FIRST_120 ", %120, %121, %122, %123, %124, %125, %126, %127",
                      128, 129, 130, 131, 132, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32), SMEMTUNE_SUMS_32(64),
                      SMEMTUNE_SUMS_32(96))
    // clang-format on
#undef SMEMTUNE_FOR_TYPE
}

#define SMEMTUNE_WGMMA_TF32(columns, registers, a0, a1, a2, a3, b, add, ...)                                        \
    asm volatile(                                                                                                   \
        "{\n"                                                                                                       \
        ".reg .pred adds;\n"                                                                                        \
        "setp.ne.b32 adds, %" #add                                                                                  \
        ", 0;\n"                                                                                                    \
        "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" registers "}, {%" #a0 ", %" #a1 ", %" #a2 \
        ", %" #a3 "}, %" #b                                                                                         \
        ", adds, 1, 1;\n"                                                                                           \
        "}"                                                                                                         \
        : __VA_ARGS__                                                                                               \
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "l"(tile_b), "r"(adds))

/// sums += a * b for tf32, where a is 64 x 8, in registers, and b is 8 x COLUMNS. If `adds` is 0, sums = a * b. `rows`
/// must keep its values until the products are complete. A lane has the same elements of `sums` as in multiply_tiles.
/// Lane 4 * g + t of warp w of the warpgroup has these elements of a:
///
///     rows[0], rows[1]    rows 16 * w + g and 16 * w + g + 8, k-step t
///     rows[2], rows[3]    the same rows, k-step t + 4
///
/// The lines of `tile_b` are along K and have 32 elements. The next 8 k-steps start 32 bytes later. The tensor cores
/// truncate the elements of b to 11 bits of significand.
template <int COLUMNS>
__device__ __forceinline__ void multiply_rows(float (&sums)[COLUMNS / 2], const unsigned (&rows)[4],
                                              unsigned long long tile_b, int adds) {
    // clang-format off
    if constexpr (COLUMNS == 16) {
        SMEMTUNE_WGMMA_TF32(16, "%0, %1, %2, %3, %4, %5, %6, %7",
                            8, 9, 10, 11, 12, 13, SMEMTUNE_EIGHT_SUMS(0));
    } else if constexpr (COLUMNS == 32) {
        SMEMTUNE_WGMMA_TF32(32, SMEMTUNE_TEN() ", %10, %11, %12, %13, %14, %15",
                            16, 17, 18, 19, 20, 21, SMEMTUNE_SUMS_16(0));
    } else if constexpr (COLUMNS == 48) {
        SMEMTUNE_WGMMA_TF32(48, SMEMTUNE_TEN() ", " SMEMTUNE_TEN(1) ", %20, %21, %22, %23",
                            24, 25, 26, 27, 28, 29, SMEMTUNE_SUMS_16(0), SMEMTUNE_EIGHT_SUMS(16));
    } else if constexpr (COLUMNS == 64) {
        SMEMTUNE_WGMMA_TF32(64, SMEMTUNE_FIRST_30 ", %30, %31",
                            32, 33, 34, 35, 36, 37, SMEMTUNE_SUMS_32(0));
    } else if constexpr (COLUMNS == 80) {
        SMEMTUNE_WGMMA_TF32(80, SMEMTUNE_FIRST_30 ", " SMEMTUNE_TEN(3),
                            40, 41, 42, 43, 44, 45, SMEMTUNE_SUMS_32(0), SMEMTUNE_EIGHT_SUMS(32));
    } else if constexpr (COLUMNS == 96) {
        SMEMTUNE_WGMMA_TF32(96, SMEMTUNE_FIRST_30 ", " SMEMTUNE_TEN(3) ", %40, %41, %42, %43, %44, %45, %46, %47",
                            48, 49, 50, 51, 52, 53, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_16(32));
    } else if constexpr (COLUMNS == 128) {
        SMEMTUNE_WGMMA_TF32(128, SMEMTUNE_FIRST_60 ", %60, %61, %62, %63",
                            64, 65, 66, 67, 68, 69, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32));
    } else if constexpr (COLUMNS == 160) {
        SMEMTUNE_WGMMA_TF32(160, SMEMTUNE_FIRST_60 ", " SMEMTUNE_TEN(6) ", " SMEMTUNE_TEN(7),
                            80, 81, 82, 83, 84, 85, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32), SMEMTUNE_SUMS_16(64));
    } else if constexpr (COLUMNS == 192) {
        SMEMTUNE_WGMMA_TF32(192, SMEMTUNE_FIRST_90 ", %90, %91, %92, %93, %94, %95",
                            96, 97, 98, 99, 100, 101, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32), SMEMTUNE_SUMS_32(64));
    } else {
        static_assert(COLUMNS == 256, "columns of an instruction");
        SMEMTUNE_WGMMA_TF32(256, SMEMTUNE_FIRST_120 ", %120, %121, %122, %123, %124, %125, %126, %127",
                            128, 129, 130, 131, 132, 133, SMEMTUNE_SUMS_32(0), SMEMTUNE_SUMS_32(32),
                            SMEMTUNE_SUMS_32(64), SMEMTUNE_SUMS_32(96));
    }
    // clang-format on
}
#undef SMEMTUNE_WGMMA_TF32
#undef SMEMTUNE_WGMMA
#undef SMEMTUNE_SUMS_32
#undef SMEMTUNE_SUMS_16
#undef SMEMTUNE_EIGHT_SUMS
#undef SMEMTUNE_FIRST_120
#undef SMEMTUNE_FIRST_90
#undef SMEMTUNE_FIRST_60
#undef SMEMTUNE_FIRST_30
#undef SMEMTUNE_THIRTY
#undef SMEMTUNE_TEN
