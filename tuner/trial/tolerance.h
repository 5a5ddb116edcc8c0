// How far the result of a right kernel may be from the FP64 reference. The bound depends on the element type, not on
// the kernel.
//
// An output element v is a sum, computed with n rounded operations (n is `terms` in the code). m is the sum of the
// absolute values of the summands of v. u is the unit roundoff of the type. A kernel is right if both rules hold:
//
//   1. every element:    |error| <= min(gamma_n m, 8 u s)          s^2 = n v^2 + m^2
//   2. all elements:     rms(error) <= 2 u rms(s)                  rms over the elements with a finite reference
//
// gamma_n = n u / (1 - n u) is the worst case, for any values and any order of addition (Higham, Accuracy and Stability
// of Numerical Algorithms, 2002, section 3.1). Real errors are far smaller. At large n, this bound alone would also
// accept kernels of low precision.
//
// 8 u s and rule 2 are probabilistic bounds. If the n rounding errors are independent with mean zero, their sum grows
// like sqrt(n). It exceeds lambda sqrt(n) u m with probability 2 exp(-lambda^2 / 2) at most (Higham and Mary, A New
// Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019).
//
// The first term of s^2 is n v^2, not n m^2, which makes the bound 8 u s tighter. Each rounding error is relative to a
// partial sum, not to m. A partial sum of independent random summands is on average no larger than the whole sum, in
// any order of addition. So the root mean square of v may replace m (Higham and Mary, Sharper Probabilistic Backward
// Error Analysis for Basic Linear Algebra Kernels with Random Data, SIAM J. Sci. Comput. 42(5), 2020). The second term
// of s^2 is for single elements whose v is small by chance. It is n v^2 with m / sqrt(n) in place of v. If the signs of
// the summands are random, the root mean square of v is the root of the sum of the squared summands. m / sqrt(n) is at
// most this root, and 0.75 times this root for products of values uniform in [-1, 1]. With lambda = 8, a right element
// exceeds the bound with probability 2 exp(-32) at most.
//
// Example: sums of K products of values uniform in [-1, 1], added one by one. Their rms(error) is 0.1 K u, an eighth of
// the bound of rule 2. Any other order of addition has smaller partial sums. A kernel that rounds its inputs to the 11
// bits of TF32 has an rms(error) of 0.2 * 2^13 sqrt(K) u. This is 2000 / sqrt(K) times the bound, and still 7 times
// the bound at K = 65536. The input values have 24 significant bits, so no lower precision holds them exactly.
//
// A matrix product of f16 or bf16 is a sum in FP32 that is rounded once to the type. In its rules, u is the unit
// roundoff of the sum, u' is the unit roundoff of the type, and t is the smallest positive number of the type:
//
//   1. every element:    |error| <= min(gamma_n m, 8 u s) (1 + u') + u' |v| + t
//   2. all elements:     rms(error) <= rms(2 u s + u' |v|)
//
// u is 2^-23, not 2^-24, because tensor cores truncate sums instead of rounding them to nearest. The products are
// exact, because the product of two significands of 11 bits has at most 22 bits. Rounding to the type adds an error of
// at most u' |v|, and at most u' |v| / sqrt(3) in the root mean square. Rule 2 therefore rejects two kinds of kernels
// at every K: those that keep sums in 16 bits, and those whose inputs lost two bits of their significand.
//
// A tf32 number is an FP32 number in memory, but a product uses only 11 bits of its significand. The inputs of checks
// have no more than 11 bits, so products are exact. u' is the unit roundoff of FP32. These checks do not show whether a
// kernel rounds the other bits of its inputs to nearest or truncates them. tensor_warp_tiled rounds to nearest, which a
// separate test verifies.
//
// A 3xtf32 number is an FP32 number in memory, and inputs use all 24 bits. The rules are those of f32, but n is larger
// by 8, because a product a b has an error of up to 8 u |ab|. A kernel splits a into A + A' and a rest: A is a, rounded
// to 11 bits, and A' has 11 bits of the remainder. The rest is at most 2 u |a|. b is split into B + B' and a rest in
// the same way. The kernel adds A B, A B' and A' B, but leaves out A' B' and the rests. The errors from the two rests
// are at most 2 u |ab| each, and A' B' is at most 4 u |ab|, together 8 u |ab|. These errors are as independent of each
// other as rounding errors, and their root mean square is 1.2 u |ab|. At every K, rule 2 rejects kernels that leave out
// one of the three products, and kernels that round one input to 11 bits.
#pragma once

#include <cstdint>

namespace smemtune {

/// To be raised when the rules above change. Kernels that passed under the old rules are then verified again, because
/// their verification identity differs.
constexpr int tolerance_version = 2;

constexpr double element_lambda = 8;  ///< the factor 8 in rule 1
constexpr double rms_lambda = 2;      ///< the factor 2 in rule 2

/// Returns gamma_n, or infinity if n u >= 1.
double error_factor(std::int64_t terms, double unit_roundoff);

}  // namespace smemtune
