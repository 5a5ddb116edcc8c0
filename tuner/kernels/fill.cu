// Fills a guarded matrix: random values inside, a NaN of a known bit pattern everywhere else.
#include "configuration.h"  // Element

constexpr int UNIFORM = 0, INTEGER = 1;  // any other mode: inside is poisoned too

union Poison {
    unsigned bits;
    float value;
};

// SplitMix64: one well-mixed word for each index, so that any thread can fill any element.
__device__ unsigned long long mix(unsigned long long x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

extern "C" __global__ void fill(Element* data, long long guard, long long rows, long long columns, long long stride,
                                int mode, int magnitude, unsigned long long seed) {
    const long long count = 2 * guard + rows * stride;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const long long at = i - guard, row = at / stride, column = at % stride;
        Poison poison;
        poison.bits = 0x7fc0beefu;
        Element value = poison.value;
        if (at >= 0 && row < rows && column < columns) {
            const unsigned long long word = mix(seed + mix((unsigned long long)(row * columns + column)));
            if (mode == UNIFORM) value = (Element)((double)(word >> 11) * 0x1p-52 - 1.0);
            if (mode == INTEGER) value = (Element)((int)(word >> 33) % (2 * magnitude + 1) - magnitude);
        }
        data[i] = value;
    }
}
