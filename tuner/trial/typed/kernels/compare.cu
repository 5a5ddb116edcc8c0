// Checks the guarded arrays of an output of any type: every element against its reference, everything around it
// untouched. Each block reports the first element outside that changed and the first element that is further from its
// reference than allowed (indices into `data`, or -1), how many such elements there are, how far the others are, as a
// fraction of what is allowed, and two sums over the elements: the squares of their errors and of their scales.
//
// An error is allowed up to `absolute` + `relative` * |value|. If `magnitude` is given, it is allowed up to the bound
// of tuner/trial/tolerance.h, with `relative` * |value|, the rounding of a sum to a narrower type, and half the
// smallest number of the type, `tiny`, in addition. `share` of |value| is what that rounding adds to the scale of an
// element.
#include "kernels/block_report.h"
#include "typed/kernels/numbers.h"

struct Report {
    long long outside, wrong, count;
    double most, errors, scales;
};

// The error of an element as a fraction of what is allowed; above 1, it is wrong.
struct Judged {
    double fraction, error, scale;
};

struct Rule {
    double absolute, relative, gamma, terms, lambda, tiny, share;
    int equal_nans;
};

__device__ double fraction_of(double error, double allowed) {
    return error <= allowed ? (error == 0 ? 0 : error / allowed) : 2;  // NaN too
}

__device__ Judged judge_floating(double got, double expected, const double* magnitude, const Rule& rule) {
    if (!(fabs(expected) < 1.7e308)) {  // an infinity or a NaN
        const bool equal = expected == expected ? got == expected : got != got && rule.equal_nans != 0;
        return {equal ? 0.0 : 2.0, 0, 0};
    }
    const double error = fabs(got - expected);
    if (magnitude == nullptr) return {fraction_of(error, rule.absolute + rule.relative * fabs(expected)), 0, 0};
    const double scale = rule.terms * expected * expected + *magnitude * *magnitude;
    const double worst_case = rule.gamma * *magnitude, usual = rule.lambda * sqrt(scale);
    const double allowed = (worst_case < usual ? worst_case : usual) + rule.relative * fabs(expected) + rule.tiny;
    if (rule.share == 0) return {fraction_of(error, allowed), error * error, scale};
    const double wide = sqrt(scale) + rule.share * fabs(expected);
    return {fraction_of(error, allowed), error * error, wide * wide};
}

// A difference of integers, exact if it is below 2^53.
__device__ Judged judge_integer(int type, Word got, Word expected, const Rule& rule) {
    if (got == expected) return {0, 0, 0};
    const Word a = integer_value(type, got), b = integer_value(type, expected);
    const bool less = is_signed(type) ? (long long)a < (long long)b : a < b;
    const double error = (double)(less ? b - a : a - b);
    const double value = is_signed(type) ? fabs((double)(long long)b) : (double)b;
    return {fraction_of(error, rule.absolute + rule.relative * value), 0, 0};
}

extern "C" __global__ void compare(const void* data, int type, long long guard, long long rows, long long columns,
                                   long long stride, long long matrices, long long batch_stride, Word seed,
                                   const void* value, const double* magnitude, double absolute, double relative,
                                   double gamma, double terms, double lambda, double tiny, double share, int equal_nans,
                                   long long* places, double* report) {
    const Rule rule{absolute, relative, gamma, terms, lambda, tiny, share, equal_nans};
    const long long count = 2 * guard + matrices * batch_stride;
    const long long self = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    Report mine{-1, -1, 0, 0, 0, 0};
    for (long long i = self; i < count && mine.outside < 0; i += step) {
        const long long at = i - guard, matrix = at / batch_stride, rest = at % batch_stride;
        const long long row = rest / stride, column = rest % stride;
        const Word bits = bits_at(type, data, i);
        if (at < 0 || matrix >= matrices || row >= rows || column >= columns) {
            if (bits != bits_around(type, seed, i)) mine.outside = i;
            continue;
        }
        if (value == nullptr) {  // no reference: counts what nothing was written to
            mine.count += bits == bits_around(type, seed, i) ? 1 : 0;
            continue;
        }
        const long long element = (matrix * rows + row) * columns + column;
        const Judged its = is_floating(type)
                               ? judge_floating(floating_value(type, bits), ((const double*)value)[element],
                                                magnitude == nullptr ? nullptr : magnitude + element, rule)
                               : judge_integer(type, bits, bits_at(type, value, element), rule);
        if (its.fraction > 1) {
            mine.wrong = first_place(mine.wrong, i);
            ++mine.count;
            continue;
        }
        if (its.fraction > mine.most) mine.most = its.fraction;
        mine.errors += its.error;
        mine.scales += its.scale;
    }
    const Report its = report_of_block(mine, [](Report& all, const Report& other) {
        all.outside = first_place(all.outside, other.outside);
        all.wrong = first_place(all.wrong, other.wrong);
        all.count += other.count;
        if (other.most > all.most) all.most = other.most;
        all.errors += other.errors;
        all.scales += other.scales;
    });
    if (threadIdx.x != 0) return;
    places[3 * blockIdx.x] = its.outside;
    places[3 * blockIdx.x + 1] = its.wrong;
    places[3 * blockIdx.x + 2] = its.count;
    report[3 * blockIdx.x] = its.most;
    report[3 * blockIdx.x + 1] = its.errors;
    report[3 * blockIdx.x + 2] = its.scales;
}
