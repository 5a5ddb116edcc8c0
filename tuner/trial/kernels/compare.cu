// Checks the guarded matrices of an output: every element against its reference within its error bound, everything
// around it untouched. Each thread reports the first element that it found wrong (an index into `data`, or -1) and how
// far the others are from their reference, as a fraction of what is allowed.
#include "configuration.h"  // Element
#include "kernels/around.h"

extern "C" __global__ void compare(const Element* data, long long guard, long long rows, long long columns,
                                   long long stride, long long matrices, long long batch_stride,
                                   unsigned long long seed, const double* value, const double* magnitude, double gamma,
                                   long long* first_wrong, double* worst) {
    const long long count = 2 * guard + matrices * batch_stride;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    long long wrong = -1;
    double most = 0;
    for (long long i = self; i < count && wrong < 0; i += step) {
        const long long at = i - guard, matrix = at / batch_stride, rest = at % batch_stride;
        const long long row = rest / stride, column = rest % stride;
        if (at < 0 || matrix >= matrices || row >= rows || column >= columns) {
            Bits bits;
            bits.value = data[i];
            if (bits.bits != bits_around(seed, i)) wrong = i;
            continue;
        }
        const long long element = (matrix * rows + row) * columns + column;
        const double expected = value[element], bound = gamma * magnitude[element];
        const double error = fabs((double)data[i] - expected);
        if (!(error <= bound)) wrong = i;  // NaN too
        if (bound > 0 && error / bound > most) most = error / bound;
    }
    first_wrong[self] = wrong;
    worst[self] = most;
}
