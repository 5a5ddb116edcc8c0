// The instructions of tensor cores for elements of 16 bits (compute capability 8.0 on; PTX ISA, "mma" and "ldmatrix").
// All 32 lanes of a warp call these functions together. On a CPU the lanes exchange what the hardware reads across
// them, so the same distribution of elements over lanes is right in both places.
//
// g = lane / 4 and t = lane % 4. A register holds two neighbours, the first one in its low half.
#pragma once

#include "device/half.h"

/// Loads four matrices of 8 x 8 elements from shared memory. Lane 8 * i + r gives the address of row r of matrix i,
/// aligned to 16 bytes. Register i of a lane gets elements (g, 2t) and (g, 2t + 1) of matrix i, or, if `transposed`,
/// (2t, g) and (2t + 1, g).
template <bool transposed, class T>
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const T* row) {
    static_assert(sizeof(T) == 2, "elements of 16 bits");
#ifdef SMEMTUNE_HOST
    const unsigned long long* const rows = smemtune_gather(reinterpret_cast<unsigned long long>(row));
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
        const auto element = [&](int r, int c) {
            return static_cast<unsigned>(reinterpret_cast<const T*>(rows[8 * i + r])[c].bits);
        };
        to[i] = transposed ? element(2 * t, g) | element(2 * t + 1, g) << 16
                           : element(g, 2 * t) | element(g, 2 * t + 1) << 16;
    }
#else
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if (transposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    }
#endif
}

/// c += a * b for a of 16 x 16, b of 16 x 8 and c of 16 x 8 elements; c is FP32. Of a lane,
///
///     a[0], a[1], a[2], a[3]    (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8), each with its right neighbour
///     b0, b1                    (2t, g), (2t + 8, g), each with its lower neighbour
///     c[0], c[1], c[2], c[3]    (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
template <class T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    static_assert(T::significand_bits == 11 || T::significand_bits == 8, "f16 or bf16");
#ifdef SMEMTUNE_HOST
    const auto wide = [](unsigned pair, int which) {
        T number;
        number.bits = static_cast<unsigned short>(pair >> 16 * which);
        return static_cast<double>(to_float(number));
    };
    const auto both = [](unsigned low, unsigned high) { return low | static_cast<unsigned long long>(high) << 32; };
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double rows[2][16], columns[2][16];  // rows g and g + 8 of a; columns 2t and 2t + 1 of b
    for (int right = 0; right < 2; ++right) {
        const unsigned long long* const given = smemtune_gather(both(a[2 * right], a[2 * right + 1]));
        for (int k = 0; k < 8; ++k) {
            for (int lower = 0; lower < 2; ++lower) {
                rows[lower][8 * right + k] = wide(static_cast<unsigned>(given[4 * g + k / 2] >> 32 * lower), k % 2);
            }
        }
    }
    const unsigned long long* const given = smemtune_gather(both(b0, b1));
    for (int k = 0; k < 16; ++k) {
        for (int n = 0; n < 2; ++n) {
            columns[n][k] = wide(static_cast<unsigned>(given[4 * (2 * t + n) + k % 8 / 2] >> 32 * (k / 8)), k % 2);
        }
    }
    for (int i = 0; i < 4; ++i) {
        double sum = c[i];
        for (int k = 0; k < 16; ++k) sum += rows[i / 2][k] * columns[i % 2][k];
        c[i] = static_cast<float>(sum);
    }
#else
    if (T::significand_bits == 11) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
#endif
}
