// Conversions between float and numbers of 16 bits, without the toolkit's headers. `T` is the `Element` of f16
// (T::significand_bits is 11) or of bf16 (8). The `Element` of f32 and tf32 is float, which needs no conversion.
#pragma once

#ifdef SMEMTUNE_HOST
#define SMEMTUNE_HALF_IN_SOFTWARE
#endif

union FloatWord {
    float value;
    unsigned bits;
};

/// Converts a number of 16 bits to the float with the same value.
template <class T>
__device__ __forceinline__ float to_float(T number) {
    FloatWord word;
    if (T::significand_bits == 8) {
        word.bits = static_cast<unsigned>(number.bits) << 16;
        return word.value;
    }
#ifdef SMEMTUNE_HALF_IN_SOFTWARE
    const unsigned sign = (number.bits & 0x8000u) << 16, exponent = number.bits >> 10 & 31, rest = number.bits & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: the value is rest * 2^-24
        word.value = static_cast<float>(rest) * 0x1p-24f;
    } else {
        word.bits = (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | rest << 13;
    }
    word.bits |= sign;
#else
    asm("cvt.f32.f16 %0, %1;" : "=f"(word.value) : "h"(number.bits));
#endif
    return word.value;
}
__device__ __forceinline__ float to_float(float number) { return number; }

/// Converts a float to the nearest number of 16 bits, ties to even.
template <class T>
__device__ __forceinline__ T from_float(float value) {
    T result;
#ifdef SMEMTUNE_HALF_IN_SOFTWARE
    FloatWord word;
    word.value = value;
    const unsigned sign = word.bits >> 16 & 0x8000u;
    word.bits &= 0x7fffffffu;
    unsigned rounded;
    if (word.bits > 0x7f800000u) {
        rounded = 0x7fff;
    } else if (T::significand_bits == 8) {
        rounded = (word.bits + 0x7fffu + (word.bits >> 16 & 1)) >> 16;
    } else if (word.bits >= 0x477ff000u) {  // 65520 and more: infinity; the largest f16 is 65504
        rounded = 0x7c00;
    } else if (word.bits < 0x38800000u) {  // below 2^-14, f16 numbers are 2^-24 apart, like floats in [0.5, 1)
        word.value += 0.5f;                // rounds to a multiple of 2^-24
        rounded = word.bits - 0x3f000000u;
    } else {
        rounded = ((word.bits + 0xfffu + (word.bits >> 13 & 1)) >> 13) - (112u << 10);
    }
    result.bits = static_cast<unsigned short>(sign | rounded);
#else
    if (T::significand_bits == 8) {
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    } else {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    }
#endif
    return result;
}
template <>
__device__ __forceinline__ float from_float<float>(float value) {
    return value;
}

/// Converts two floats to numbers of 16 bits like from_float. The result of `low` is in the lower half of the word.
template <class T>
__device__ __forceinline__ unsigned two_from_float(float low, float high) {
#if defined(SMEMTUNE_HALF_IN_SOFTWARE) || __CUDA_ARCH__ < 800
    return from_float<T>(low).bits | static_cast<unsigned>(from_float<T>(high).bits) << 16;
#else
    unsigned both;
    if (T::significand_bits == 8) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    } else {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    }
    return both;
#endif
}
