// Checks the guarded matrices of an output: every element against its reference within its error bound, everything
// around it untouched. Each block reports the first element that it found wrong (an index into `data`, or -1), how
// far the others are from their reference, as a fraction of what is allowed (squared), and two sums over its elements:
// the squares of their errors and of their scales. tuner/trial/tolerance.h explains bound and scale.
#include "configuration.h"  // Element
#include "kernels/around.h"
#include "kernels/block_report.h"

struct Report {
    long long wrong;
    double most, errors, scales;
};

extern "C" __global__ void compare(const Element* data, long long guard, long long rows, long long columns,
                                   long long stride, long long matrices, long long batch_stride,
                                   unsigned long long seed, const double* value, const double* magnitude, double gamma,
                                   double terms, double lambda, long long* first_wrong, double* report) {
    const long long count = 2 * guard + matrices * batch_stride;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    long long wrong = -1;
    double most = 0, errors = 0, scales = 0;
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
        const double expected = value[element], got = data[i];
        if (!(fabs(expected) < 1.7e308)) {  // an infinity or a NaN
            if (got != expected && (got == got || expected == expected)) wrong = i;
            continue;
        }
        const double scale = terms * expected * expected + magnitude[element] * magnitude[element];
        const double worst_case = gamma * magnitude[element], usual = lambda * lambda * scale;
        const double bound = worst_case * worst_case < usual ? worst_case * worst_case : usual;
        const double error = (got - expected) * (got - expected);
        if (!(error <= bound)) wrong = i;  // NaN too
        if (bound > 0 && error / bound > most) most = error / bound;
        errors += error;
        scales += scale;
    }
    const Report its = report_of_block(Report{wrong, most, errors, scales}, [](Report& all, const Report& other) {
        all.wrong = first_place(all.wrong, other.wrong);
        if (other.most > all.most) all.most = other.most;
        all.errors += other.errors;
        all.scales += other.scales;
    });
    if (threadIdx.x != 0) return;
    first_wrong[blockIdx.x] = its.wrong;
    report[3 * blockIdx.x] = its.most;
    report[3 * blockIdx.x + 1] = its.errors;
    report[3 * blockIdx.x + 2] = its.scales;
}
