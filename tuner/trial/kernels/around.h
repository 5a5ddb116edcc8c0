// The padding around the elements of a matrix: a quiet NaN, another one in each place. So a kernel that reads beyond an
// input and writes it beyond an output changes the padding there.
#pragma once

union Bits {
    float value;
    unsigned bits;
};

// SplitMix64: one well-mixed word for each index, so that any thread can fill any element.
__device__ unsigned long long mix(unsigned long long x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// `place` counts from the start of the memory.
__device__ unsigned bits_around(unsigned long long seed, long long place) {
    return 0x7fc00000u | (unsigned)(mix(seed + mix(~(unsigned long long)place)) >> 42);
}
