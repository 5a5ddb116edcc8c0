// Numbers of any type in memory. The types' numbers are those of templates/arguments/argument_type.cpp.
#pragma once

using Word = unsigned long long;

constexpr int F64 = 0, F32 = 1, F16 = 2, BF16 = 3, I64 = 4, U64 = 5, I32 = 6, U32 = 7, I16 = 8, U16 = 9, I8 = 10,
              U8 = 11;

__device__ inline bool is_floating(int type) { return type <= BF16; }
__device__ inline bool is_signed(int type) { return type == I64 || type == I32 || type == I16 || type == I8; }
__device__ inline int bytes_of(int type) {
    return type == F64 || type == I64 || type == U64   ? 8
           : type == F32 || type == I32 || type == U32 ? 4
           : type >= I8                                ? 1
                                                       : 2;
}

__device__ inline Word bits_at(int type, const void* data, long long i) {
    switch (bytes_of(type)) {
        case 8: return ((const Word*)data)[i];
        case 4: return ((const unsigned*)data)[i];
        case 2: return ((const unsigned short*)data)[i];
        default: return ((const unsigned char*)data)[i];
    }
}

__device__ inline void set_bits(int type, void* data, long long i, Word bits) {
    switch (bytes_of(type)) {
        case 8: ((Word*)data)[i] = bits; break;
        case 4: ((unsigned*)data)[i] = (unsigned)bits; break;
        case 2: ((unsigned short*)data)[i] = (unsigned short)bits; break;
        default: ((unsigned char*)data)[i] = (unsigned char)bits; break;
    }
}

union DoubleBits {
    double value;
    Word bits;
};
union FloatBits {
    float value;
    unsigned bits;
};

// A floating type of 16 bits has a sign, `exponent` bits and `fraction` bits.
__device__ inline double half_value(Word bits, int exponent, int fraction) {
    const int bias = (1 << (exponent - 1)) - 1, e = (int)(bits >> fraction) & ((1 << exponent) - 1);
    const Word f = bits & ((1ull << fraction) - 1);
    DoubleBits result;
    if (e == (1 << exponent) - 1) {
        result.bits = 0x7ff0000000000000ull | (f << (52 - fraction));
    } else if (e == 0) {  // f * 2^(1 - bias - fraction)
        result.bits = (Word)(1 - bias - fraction + 1023) << 52;
        result.value *= (double)f;
    } else {
        result.bits = (Word)(e - bias + 1023) << 52 | f << (52 - fraction);
    }
    result.bits |= (bits >> 15) << 63;
    return result.value;
}

// Rounds to nearest, ties to even.
__device__ inline Word half_bits(double value, int exponent, int fraction) {
    DoubleBits from;
    from.value = value;
    const Word sign = (from.bits >> 63) << 15, infinity = (Word)((1 << exponent) - 1) << fraction;
    const int e = (int)(from.bits >> 52) & 2047;
    const Word f = from.bits & 0xfffffffffffffull;
    if (e == 2047) return sign | infinity | (f != 0 ? 1ull << (fraction - 1) : 0);
    int target = e - 1023 + (1 << (exponent - 1)) - 1, shift = 52 - fraction;
    if (target <= 0) {  // below the normal range
        shift += 1 - target;
        target = 1;
    }
    if (e == 0 || shift > 54) return sign;
    const Word all = f | 1ull << 52, rest = all & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
    Word steps = all >> shift;
    if (rest > middle || (rest == middle && steps % 2 == 1)) ++steps;
    const Word encoded = steps + ((Word)(target - 1) << fraction);
    return sign | (encoded < infinity ? encoded : infinity);
}

__device__ inline double floating_value(int type, Word bits) {
    DoubleBits wide;
    FloatBits narrow;
    switch (type) {
        case F64: wide.bits = bits; return wide.value;
        case F32: narrow.bits = (unsigned)bits; return narrow.value;
        case F16: return half_value(bits, 5, 10);
        default: return half_value(bits, 8, 7);
    }
}

__device__ inline Word floating_bits(int type, double value) {
    DoubleBits wide;
    FloatBits narrow;
    switch (type) {
        case F64: wide.value = value; return wide.bits;
        case F32: narrow.value = (float)value; return narrow.bits;
        case F16: return half_bits(value, 5, 10);
        default: return half_bits(value, 8, 7);
    }
}

// A finite number, rounded to so many bits of its significand, ties to even.
__device__ inline double rounded_to(double value, int significand_bits) {
    if (significand_bits >= 53) return value;
    DoubleBits word;
    word.value = value;
    const int dropped = 53 - significand_bits;
    word.bits += (1ull << (dropped - 1)) - 1 + (word.bits >> dropped & 1);
    word.bits = word.bits >> dropped << dropped;
    return word.value;
}

// An integer of `type`, extended to 64 bits.
__device__ inline Word integer_value(int type, Word bits) {
    const int unused = 64 - 8 * bytes_of(type);
    return is_signed(type) ? (Word)((long long)(bits << unused) >> unused) : bits;
}

// SplitMix64: one well-mixed word for each index, so that any thread can fill any element.
__device__ inline Word mix(Word x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// What lies around an array, and in an output before a launch: NaNs of known bit patterns, or random integers.
// `place` counts from the start of the memory.
__device__ inline Word bits_around(int type, Word seed, long long place) {
    const Word word = mix(seed + mix(~(Word)place));
    switch (type) {
        case F64: return 0x7ff8000000000000ull | word >> 13;
        case F32: return 0x7fc00000u | word >> 42;
        case F16: return 0x7e00u | word >> 55;
        case BF16: return 0x7fc0u | word >> 58;
        default: return word >> (64 - 8 * bytes_of(type));
    }
}
