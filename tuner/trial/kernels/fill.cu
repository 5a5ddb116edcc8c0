// Fills guarded matrices, one behind the other: random values inside, NaNs of known bit patterns everywhere else. Or,
// with `changed`, looks whether it still is as it was filled: each thread reports the first element that is not, or -1.
#include "configuration.h"  // Element
#include "kernels/around.h"

constexpr int UNIFORM = 0, INTEGER = 1;  // any other mode: inside is poisoned too

extern "C" __global__ void fill(Element* data, long long guard, long long rows, long long columns, long long stride,
                                long long matrices, long long batch_stride, int mode, int magnitude,
                                unsigned long long seed, long long* changed) {
    const long long count = 2 * guard + matrices * batch_stride;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    long long differs = -1;
    for (long long i = self; i < count && differs < 0; i += step) {
        const long long at = i - guard, matrix = at / batch_stride, rest = at % batch_stride;
        const long long row = rest / stride, column = rest % stride;
        Bits filled;
        if (mode > INTEGER || at < 0 || matrix >= matrices || row >= rows || column >= columns) {
            filled.bits = bits_around(seed, i);
        } else {
            const unsigned long long word =
                mix(seed + mix((unsigned long long)((matrix * rows + row) * columns + column)));
            if (mode == UNIFORM) filled.value = (Element)((double)(word >> 11) * 0x1p-52 - 1.0);
            if (mode == INTEGER) filled.value = (Element)((int)(word >> 33) % (2 * magnitude + 1) - magnitude);
        }
        if (changed == nullptr) {
            data[i] = filled.value;
            continue;
        }
        Bits found;
        found.value = data[i];
        if (found.bits != filled.bits) differs = i;
    }
    if (changed != nullptr) changed[self] = differs;
}
