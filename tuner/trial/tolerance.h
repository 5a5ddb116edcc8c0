// How far the result of a right kernel may be from the FP64 reference. The bound depends on the element type, not on
// the kernel.
//
// An output element v is the result of n rounded operations (`terms`), m the sum of the absolute values of its terms,
// u the unit roundoff of the type. A kernel is right if both hold:
//
//   1. every element:    |error| <= min(gamma_n m, 8 u s)          s^2 = n v^2 + m^2
//   2. all elements:     rms(error) <= 2 u rms(s)                  rms over the elements with a finite reference
//
// gamma_n = n u / (1 - n u) is the worst case, for any values and any order of addition (Higham, Accuracy and Stability
// of Numerical Algorithms, 2002, section 3.1). Real errors are far smaller, so it says nothing about precision at large
// n. 8 u s and rule 2 are probabilistic: if the n rounding errors are independent with mean zero, their sum grows like
// sqrt(n) and exceeds lambda sqrt(n) u m with probability 2 exp(-lambda^2 / 2) at most (Higham and Mary, A New Approach
// to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019). Each error is relative to a partial
// result, not to m. A partial sum of independent random terms is on average no larger than the whole sum, so sqrt(n) u
// times the root mean square of v replaces it (Higham and Mary, Sharper Probabilistic Backward Error Analysis for Basic
// Linear Algebra Kernels with Random Data, SIAM J. Sci. Comput. 42(5), 2020). That holds for any order of addition. The
// second term, m = sqrt(n) (m / sqrt(n)), is the scale of v where there are too few elements for a mean: m / sqrt(n) is
// at most the root of the sum of the squared terms. The constant 8 has probability 2 exp(-32) per element.
//
// For sums of K products of values uniform in [-1, 1], added one by one, rms(error) is 0.1 K u, a quarter of u rms(s):
// an eighth of the bound. Any other order has smaller partial sums. A kernel that rounds its inputs to the 11 bits of
// TF32 errs by 0.2 * 2^13 sqrt(K) u: 2000 / sqrt(K) times the bound, still 7 times at K = 65536. The values need all 24
// bits of the significand, so no lower precision holds them exactly.
//
// Matrix products of f16 and bf16 are sums in FP32, rounded once to the type. u is then the unit roundoff of the sum,
// and u' that of the type:
//
//   1. every element:    |error| <= min(gamma_n m, 8 u s) (1 + u') + u' |v| + t      t: the type's least number
//   2. all elements:     rms(error) <= rms(2 u s + u' |v|)
//
// u is 2^-23, not 2^-24, because tensor cores cut a sum off instead of rounding it to nearest. The products themselves
// are exact: two significands of 11 bits fit the 24 of FP32. u' |v| is all that rounding to nearest may add, and the
// root mean square of what it does add is at most u' |v| / sqrt(3). So rule 2 finds sums that are kept in 16 bits, and
// inputs that lost two bits of their significand, at every K.
//
// tf32 is FP32 in memory. Its inputs here have 11 bits, all that a product takes from them, so products are exact, and
// u' is that of FP32. What a kernel makes of the other bits of an input, to nearest or cut off, is not looked at:
// tensor_warp_tiled rounds them to nearest, and has a test of its own for that.
//
// 3xtf32 is FP32 in memory, and its rule is that of f32 with inputs that need all 24 bits, but n is 8 larger. A product
// of a and b stands for three: a = A + A', where A has the first 11 bits, to nearest, and A' 11 of the rest. What is
// left of a is at most 2 u |a|, of b as much, and A' B', which is left out, is at most 4 u |a b|: 8 u |a b| together.
// These errors are as independent of each other as roundings are, 1.2 u |a b| in the root mean square. So a kernel that
// leaves out one of the three products, or rounds one input to 11 bits, is found at every K, as for f32.
#pragma once

#include <cstdint>

namespace smemtune {

/// Changes with the rule above. A kernel that passed under a different rule has a different verification identity.
constexpr int tolerance_version = 2;

constexpr double element_lambda = 8;  ///< rule 1
constexpr double rms_lambda = 2;      ///< rule 2

/// gamma_n. Infinite if n*u >= 1.
double error_factor(std::int64_t terms, double unit_roundoff);

}  // namespace smemtune
