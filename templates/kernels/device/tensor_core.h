// The instructions of tensor cores (from compute capability 8.0 on; PTX ISA, "mma" and "ldmatrix"). `T` is the
// `Element` of f16, bf16 or tf32. All 32 lanes of a warp must call load_matrices and multiply_add together. On a CPU,
// C++ code imitates the hardware: each lane gets the same elements as on a GPU, and sums are truncated, not rounded.
//
// In the comments below, g = lane / 4 and t = lane % 4. A word is the content of a 32-bit register: two neighbouring
// elements of 16 bits, the first one in the low half, or one element of tf32.
#pragma once

#include "device/half.h"

/// Loads four matrices from shared memory, each with 8 rows of 16 bytes. `row` of lane 8 * i + r is the address of row
/// r of matrix i, aligned to 16 bytes. In each lane (g = lane / 4, t = lane % 4), to[i] becomes word t of row g of
/// matrix i. If `transposed`, to[i] becomes elements (2t, g) and (2t + 1, g) of matrix i, and T must have 16 bits.
template <bool transposed, class T>
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const T* row) {
    static_assert(sizeof(T) == 2 || !transposed, "the instruction transposes elements of 16 bits");
#ifdef SMEMTUNE_HOST
    const unsigned long long* const rows = smemtune_gather(reinterpret_cast<unsigned long long>(row));
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
        const auto element = [&](int r, int c) { return reinterpret_cast<const T*>(rows[8 * i + r])[c]; };
        if constexpr (sizeof(T) == 4) {
            to[i] = __float_as_uint(element(g, t));
        } else {
            const T low = transposed ? element(2 * t, g) : element(g, 2 * t);
            const T high = transposed ? element(2 * t + 1, g) : element(g, 2 * t + 1);
            to[i] = low.bits | static_cast<unsigned>(high.bits) << 16;
        }
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

/// Rounds a float to the nearest TF32 number, which has 11 bits of significand; ties go away from zero. Without this
/// rounding, multiply_add would truncate the float to 11 bits.
__device__ __forceinline__ unsigned to_tf32(float value) {
#ifdef SMEMTUNE_HOST
    return value != value ? 0x7fffffffu : (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
#else
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return rounded;
#endif
}

#ifdef SMEMTUNE_HOST
/// Returns element `which` of a register as a tensor core reads it. Of a tf32 element, the core reads only the upper 19
/// bits.
template <class T>
double element_of(unsigned word, int which) {
    if constexpr (sizeof(T) == 4) {
        return __uint_as_float(word & 0xffffe000u);
    } else {
        T number;
        number.bits = static_cast<unsigned short>(word >> 16 * which);
        return to_float(number);
    }
}
#endif

#ifdef SMEMTUNE_HOST
/// Returns the sum of exact terms as a tensor core of compute capability 8.0 computes it. Each term loses its
/// bits below the place of the largest term's 25th bit. Then the sum is truncated to 24 bits. Newer tensor cores keep
/// more bits of the terms. Source: Fasi, Higham, Mikaitis, Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ
/// Computer Science 7, 2021, which describes the measurements.
inline float truncated_sum(const double* terms, int count) {
    double exact = 0, largest = 0;
    for (int i = 0; i < count; ++i) {
        exact += terms[i];
        largest = terms[i] > largest ? terms[i] : -terms[i] > largest ? -terms[i] : largest;
    }
    if (largest == 0 || !(exact - exact == 0)) return static_cast<float>(exact);  // all terms 0, or one is not finite
    union {
        double value;
        unsigned long long bits;
    } unit = {largest};
    unit.bits = (unit.bits >> 52) << 52;  // the largest power of two <= largest
    unit.value = unit.value * 0x1p-24 < 0x1p-149 ? 0x1p-149 : unit.value * 0x1p-24;
    const double units = 1 / unit.value;
    long long sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<long long>(terms[i] * units);
    unsigned long long magnitude = sum < 0 ? -sum : sum;
    if (magnitude >> 24 != 0) {
        const int dropped = 40 - __builtin_clzll(magnitude);
        magnitude = magnitude >> dropped << dropped;
    }
    return static_cast<float>((sum < 0 ? -1 : 1) * (static_cast<double>(magnitude) * unit.value));
}
#endif

/// c += a * b, where a has 16 rows, b has 8 columns, and c is 16 x 8 in FP32. A row of a, and a column of b, has 8
/// words along K: 16 elements of f16 or bf16, or 8 of tf32. Each lane (g = lane / 4, t = lane % 4) has these parts:
///
///     a[0], a[1], a[2], a[3]    words t of rows g and g + 8, words t + 4 of rows g and g + 8
///     b0, b1                    words t and t + 4 of column g
///     c[0], c[1], c[2], c[3]    elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
template <class T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef SMEMTUNE_HOST
    constexpr int EACH = 4 / sizeof(T), DEPTH = 8 * EACH;  // number of elements in a word, and in 8 words
    const auto both = [](unsigned low, unsigned high) { return low | static_cast<unsigned long long>(high) << 32; };
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double rows[2][DEPTH], columns[2][DEPTH];  // rows g and g + 8 of a; columns 2t and 2t + 1 of b
    for (int right = 0; right < 2; ++right) {
        const unsigned long long* const given = smemtune_gather(both(a[2 * right], a[2 * right + 1]));
        for (int k = 0; k < DEPTH / 2; ++k) {
            for (int lower = 0; lower < 2; ++lower) {
                const auto word = static_cast<unsigned>(given[4 * g + k / EACH] >> 32 * lower);
                rows[lower][DEPTH / 2 * right + k] = element_of<T>(word, k % EACH);
            }
        }
    }
    const unsigned long long* const given = smemtune_gather(both(b0, b1));
    for (int k = 0; k < DEPTH; ++k) {
        for (int n = 0; n < 2; ++n) {
            const int word = k / EACH;
            const auto pair = given[4 * (2 * t + n) + word % 4];
            columns[n][k] = element_of<T>(static_cast<unsigned>(pair >> 32 * (word / 4)), k % EACH);
        }
    }
    for (int i = 0; i < 4; ++i) {
        double terms[DEPTH + 1] = {c[i]};
        for (int k = 0; k < DEPTH; ++k) terms[k + 1] = rows[i / 2][k] * columns[i % 2][k];
        c[i] = truncated_sum(terms, DEPTH + 1);
    }
#else
    if constexpr (sizeof(T) == 4) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else if constexpr (T::significand_bits == 11) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        static_assert(T::significand_bits == 8, "bf16");
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
#endif
}
