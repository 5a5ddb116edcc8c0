// Fills guarded arrays of any type: generated values inside, and NaNs or random integers everywhere else. Or, with
// `changed`, looks whether they still are as they were filled: each block reports the first element that is not, or -1.
#include "kernels/block_report.h"
#include "typed/kernels/numbers.h"

// tuner/trial/typed/typed_fill.cpp
constexpr int POISONED = 0, UNIFORM = 1, INTEGERS = 2, NORMAL = 3, SORTED = 4, PERMUTATION = 5, SPECIAL = 6, COPIED = 7;

__device__ double unit(Word word) { return (double)(word >> 11) * 0x1p-53; }  // in [0, 1)

// A permutation of 0..count-1: a Feistel network over the next power of 4, repeated until it is below `count`.
__device__ Word permuted(Word i, Word count, Word seed) {
    int half = 1;
    while (half < 32 && (1ull << (2 * half)) < count) ++half;
    const Word mask = (1ull << half) - 1;
    do {
        Word left = i >> half, right = i & mask;
        for (int round = 0; round < 4; ++round) {
            const Word next = left ^ (mix(seed + 4 * right + (Word)round) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= count);
    return i;
}

// Number `i` of `count` integers from 0 to `last`: the first is 0, the last is `last`, and each is in its own interval.
__device__ long long sorted(long long i, long long count, long long last, Word word) {
    if (i == 0 || count == 1) return i == 0 && count > 1 ? 0 : last;
    if (i == count - 1) return last;
    return (long long)(((double)i + unit(word)) / (double)count * (double)last);
}

extern "C" __global__ void fill(void* data, int type, long long guard, long long rows, long long columns,
                                long long stride, long long matrices, long long batch_stride, int mode, double first,
                                double second, Word seed, int significand_bits, const void* source,
                                long long* changed) {
    const long long count = 2 * guard + matrices * batch_stride, elements = matrices * rows * columns;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    const long long infinite = (long long)(mix(seed) % (Word)(elements > 0 ? elements : 1));  // SPECIAL alone
    long long differs = -1;
    for (long long i = self; i < count && differs < 0; i += step) {
        const long long at = i - guard, matrix = at / batch_stride, rest = at % batch_stride;
        const long long row = rest / stride, column = rest % stride;
        Word bits = 0;
        if (mode == POISONED || at < 0 || matrix >= matrices || row >= rows || column >= columns) {
            bits = bits_around(type, seed, i);
        } else {
            const long long element = (matrix * rows + row) * columns + column;
            const Word word = mix(seed + mix((Word)element));
            long long integer = 0;
            double real = 0;
            switch (mode) {
                case UNIFORM: real = first + (second - first) * unit(word); break;
                case INTEGERS: {
                    const Word span = (Word)(long long)second - (Word)(long long)first + 1;
                    integer = (long long)((Word)(long long)first + (span == 0 ? word : word % span));
                    real = (double)integer;
                    break;
                }
                case NORMAL:  // Box and Muller
                    real = first + second * sqrt(-2 * log(1 - unit(word))) * cos(6.283185307179586 * unit(mix(word)));
                    break;
                case SORTED: integer = sorted(element, elements, (long long)second, word); break;
                case PERMUTATION: integer = (long long)permuted((Word)element, (Word)elements, seed); break;
                default: real = word % 4 == 0 ? 0 : 2 * unit(word) - 1; break;
            }
            DoubleBits infinity;
            infinity.bits = 0x7ff0000000000000ull;
            real = rounded_to(real, significand_bits);
            if (mode == SPECIAL && element == infinite) real = infinity.value;
            bits = is_floating(type) ? floating_bits(type, real)
                                     : (Word)integer << (64 - 8 * bytes_of(type)) >> (64 - 8 * bytes_of(type));
            if (mode == COPIED) bits = bits_at(type, source, element);
        }
        if (changed == nullptr) {
            set_bits(type, data, i, bits);
        } else if (bits_at(type, data, i) != bits) {
            differs = i;
        }
    }
    if (changed == nullptr) return;
    differs = report_of_block(differs, [](long long& first, long long other) { first = first_place(first, other); });
    if (threadIdx.x == 0) changed[blockIdx.x] = differs;
}
