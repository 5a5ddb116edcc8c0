// Loads and stores of four floats in one access of 16 bytes.
#pragma once

/// Whether every row of a matrix starts on a 16-byte boundary.
__device__ __forceinline__ bool rows_are_aligned(const float* matrix, long long stride) {
    return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && stride % 4 == 0;
}

/// Reads four floats at once. `from` must be aligned to 16 bytes.
__device__ __forceinline__ void load_four(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/// Writes four floats at once. `to` must be aligned to 16 bytes.
__device__ __forceinline__ void store_four(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
