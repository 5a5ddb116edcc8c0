// CUDA's mathematical functions. Included by cuda_on_cpu.h.
#pragma once

#ifdef SMEMTUNE_SYSTEM_HEADERS
#include <math.h>
#include <stdlib.h>
extern "C" int printf(const char* format, ...);  // kernels may call printf without stdio.h
#else
// Declares functions of the C library, as its headers do. Parsing those headers would take longer than the rest of a
// kernel's compile.
extern "C" {
int printf(const char* format, ...);
int abs(int) noexcept;
long long llabs(long long) noexcept;
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double sqrt(double) noexcept;
float sqrtf(float) noexcept;
double exp(double) noexcept;
float expf(float) noexcept;
double exp2(double) noexcept;
float exp2f(float) noexcept;
double log(double) noexcept;
float logf(float) noexcept;
double log2(double) noexcept;
float log2f(float) noexcept;
double log10(double) noexcept;
float log10f(float) noexcept;
double log1p(double) noexcept;
float log1pf(float) noexcept;
double expm1(double) noexcept;
float expm1f(float) noexcept;
double sin(double) noexcept;
float sinf(float) noexcept;
double cos(double) noexcept;
float cosf(float) noexcept;
double tan(double) noexcept;
float tanf(float) noexcept;
double asin(double) noexcept;
float asinf(float) noexcept;
double acos(double) noexcept;
float acosf(float) noexcept;
double atan(double) noexcept;
float atanf(float) noexcept;
double sinh(double) noexcept;
float sinhf(float) noexcept;
double cosh(double) noexcept;
float coshf(float) noexcept;
double tanh(double) noexcept;
float tanhf(float) noexcept;
double cbrt(double) noexcept;
float cbrtf(float) noexcept;
double erf(double) noexcept;
float erff(float) noexcept;
double erfc(double) noexcept;
float erfcf(float) noexcept;
double tgamma(double) noexcept;
float tgammaf(float) noexcept;
double lgamma(double) noexcept;
float lgammaf(float) noexcept;
double fabs(double) noexcept;
float fabsf(float) noexcept;
double floor(double) noexcept;
float floorf(float) noexcept;
double ceil(double) noexcept;
float ceilf(float) noexcept;
double round(double) noexcept;
float roundf(float) noexcept;
double trunc(double) noexcept;
float truncf(float) noexcept;
double rint(double) noexcept;
float rintf(float) noexcept;
double pow(double, double) noexcept;
float powf(float, float) noexcept;
double fmod(double, double) noexcept;
float fmodf(float, float) noexcept;
double atan2(double, double) noexcept;
float atan2f(float, float) noexcept;
double fmin(double, double) noexcept;
float fminf(float, float) noexcept;
double fmax(double, double) noexcept;
float fmaxf(float, float) noexcept;
double hypot(double, double) noexcept;
float hypotf(float, float) noexcept;
double copysign(double, double) noexcept;
float copysignf(float, float) noexcept;
double fdim(double, double) noexcept;
float fdimf(float, float) noexcept;
}
inline float sqrt(float a) { return sqrtf(a); }
inline float exp(float a) { return expf(a); }
inline float exp2(float a) { return exp2f(a); }
inline float log(float a) { return logf(a); }
inline float log2(float a) { return log2f(a); }
inline float log10(float a) { return log10f(a); }
inline float log1p(float a) { return log1pf(a); }
inline float expm1(float a) { return expm1f(a); }
inline float sin(float a) { return sinf(a); }
inline float cos(float a) { return cosf(a); }
inline float tan(float a) { return tanf(a); }
inline float asin(float a) { return asinf(a); }
inline float acos(float a) { return acosf(a); }
inline float atan(float a) { return atanf(a); }
inline float sinh(float a) { return sinhf(a); }
inline float cosh(float a) { return coshf(a); }
inline float tanh(float a) { return tanhf(a); }
inline float cbrt(float a) { return cbrtf(a); }
inline float erf(float a) { return erff(a); }
inline float erfc(float a) { return erfcf(a); }
inline float tgamma(float a) { return tgammaf(a); }
inline float lgamma(float a) { return lgammaf(a); }
inline float fabs(float a) { return fabsf(a); }
inline float floor(float a) { return floorf(a); }
inline float ceil(float a) { return ceilf(a); }
inline float round(float a) { return roundf(a); }
inline float trunc(float a) { return truncf(a); }
inline float rint(float a) { return rintf(a); }
inline float pow(float a, float b) { return powf(a, b); }
inline float fmod(float a, float b) { return fmodf(a, b); }
inline float atan2(float a, float b) { return atan2f(a, b); }
inline float fmin(float a, float b) { return fminf(a, b); }
inline float fmax(float a, float b) { return fmaxf(a, b); }
inline float hypot(float a, float b) { return hypotf(a, b); }
inline float copysign(float a, float b) { return copysignf(a, b); }
inline float fdim(float a, float b) { return fdimf(a, b); }
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline double pow(double a, int b) { return pow(a, static_cast<double>(b)); }
inline float pow(float a, int b) { return powf(a, static_cast<float>(b)); }
// As in C++, sqrt of an integer converts it to double.
template <class T, decltype(static_cast<T>(1) % 1)* = nullptr>
inline double sqrt(T a) {
    return sqrt(static_cast<double>(a));
}
inline float abs(float a) { return fabsf(a); }
inline double abs(double a) { return fabs(a); }
inline long long abs(long long a) { return llabs(a); }
inline long abs(long a) { return a < 0 ? -a : a; }
inline bool isnan(double a) { return __builtin_isnan(a); }
inline bool isnan(float a) { return __builtin_isnan(a); }
inline bool isinf(double a) { return __builtin_isinf(a); }
inline bool isinf(float a) { return __builtin_isinf(a); }
inline bool isfinite(double a) { return __builtin_isfinite(a); }
inline bool isfinite(float a) { return __builtin_isfinite(a); }
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif

inline float rsqrtf(float a) { return 1.0F / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float rsqrt(float a) { return rsqrtf(a); }
inline float rcbrtf(float a) { return 1.0F / cbrtf(a); }
inline float exp10f(float a) { return powf(10.0F, a); }
inline double exp10(double a) { return pow(10.0, a); }
inline float sinpif(float a) { return static_cast<float>(sin(3.14159265358979323846 * a)); }
inline float cospif(float a) { return static_cast<float>(cos(3.14159265358979323846 * a)); }
inline void sincosf(float a, float* sine, float* cosine) {
    *sine = sinf(a);
    *cosine = cosf(a);
}
inline void sincos(double a, double* sine, double* cosine) {
    *sine = sin(a);
    *cosine = cos(a);
}
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return expf(a); }
inline float __exp10f(float a) { return exp10f(a); }
inline float __logf(float a) { return logf(a); }
inline float __log2f(float a) { return log2f(a); }
inline float __log10f(float a) { return log10f(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __tanf(float a) { return tanf(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0F) : 0.0F; }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __frcp_rn(float a) { return 1.0F / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline int __float2int_rn(float a) { return static_cast<int>(rintf(a)); }
inline int __float2int_rz(float a) { return static_cast<int>(a); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline int __mul24(int a, int b) { return a * b; }
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32U);
}
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
inline int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a)); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned __brev(unsigned a) {
    unsigned result = 0;
    for (unsigned i = 0; i < 32; ++i) result |= ((a >> i) & 1U) << (31U - i);
    return result;
}

namespace smemtune_host {

template <class To, class From>
inline To same_bits(From value) {
    To result;
    __builtin_memcpy(&result, &value, sizeof(result));
    return result;
}

}  // namespace smemtune_host

inline int __float_as_int(float a) { return smemtune_host::same_bits<int>(a); }
inline unsigned __float_as_uint(float a) { return smemtune_host::same_bits<unsigned>(a); }
inline float __int_as_float(int a) { return smemtune_host::same_bits<float>(a); }
inline float __uint_as_float(unsigned a) { return smemtune_host::same_bits<float>(a); }
inline long long __double_as_longlong(double a) { return smemtune_host::same_bits<long long>(a); }
inline double __longlong_as_double(long long a) { return smemtune_host::same_bits<double>(a); }
