// Fills guarded matrices, one behind the other: random values inside, NaNs of known bit patterns everywhere else. Or,
// with `changed`, looks whether it still is as it was filled: each block reports the first element that is not, or -1.
#include "configuration.h"  // Element
#include "kernels/around.h"
#include "kernels/block_report.h"

constexpr int UNIFORM = 0, INTEGER = 1, SPECIAL = 2, POISONED = 3;  // poisoned: NaNs inside, too

extern "C" __global__ void fill(Element* data, long long guard, long long rows, long long columns, long long stride,
                                long long matrices, long long batch_stride, int mode, int magnitude,
                                unsigned long long seed, long long* changed) {
    const long long count = 2 * guard + matrices * batch_stride;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    const long long infinite = mix(seed) % (unsigned long long)(matrices * rows * columns);  // SPECIAL alone
    long long differs = -1;
    for (long long i = self; i < count && differs < 0; i += step) {
        const long long at = i - guard, matrix = at / batch_stride, rest = at % batch_stride;
        const long long row = rest / stride, column = rest % stride;
        Bits filled;
        if (mode == POISONED || at < 0 || matrix >= matrices || row >= rows || column >= columns) {
            filled.bits = bits_around(seed, i);
        } else {
            const long long element = (matrix * rows + row) * columns + column;
            const unsigned long long word = mix(seed + mix((unsigned long long)element));
            if (mode != INTEGER) filled.value = (Element)((double)(word >> 11) * 0x1p-52 - 1.0);
            if (mode == INTEGER) filled.value = (Element)((int)(word >> 33) % (2 * magnitude + 1) - magnitude);
            if (mode == SPECIAL && word % 4 == 0) filled.value = 0;
            if (mode == SPECIAL && element == infinite) filled.bits = 0x7f800000u;
        }
        if (changed == nullptr) {
            data[i] = filled.value;
            continue;
        }
        Bits found;
        found.value = data[i];
        if (found.bits != filled.bits) differs = i;
    }
    if (changed == nullptr) return;
    differs = report_of_block(differs, [](long long& first, long long other) { first = first_place(first, other); });
    if (threadIdx.x == 0) changed[blockIdx.x] = differs;
}
