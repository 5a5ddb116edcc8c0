// Copies `count` numbers of a narrow floating type to FP32, which has them all.
#include "typed/kernels/numbers.h"

extern "C" __global__ void widen(const void* from, int type, long long count, float* to) {
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    for (long long i = self; i < count; i += step) to[i] = (float)floating_value(type, bits_at(type, from, i));
}
