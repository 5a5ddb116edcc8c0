// CUDA's vector types, with the alignment that CUDA gives them. Included by cuda_on_cpu.h.
#pragma once

#include "../layout.h"

using uint3 = SmemtuneIndex;
using dim3 = SmemtuneIndex;
struct char1 {
    signed char x;
};
inline char1 make_char1(signed char x) { return {x}; }
struct char2 {
    alignas(2) signed char x;
    signed char y;
};
inline char2 make_char2(signed char x, signed char y) { return {x, y}; }
struct char3 {
    signed char x;
    signed char y, z;
};
inline char3 make_char3(signed char x, signed char y, signed char z) { return {x, y, z}; }
struct char4 {
    alignas(4) signed char x;
    signed char y, z, w;
};
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return {x, y, z, w}; }
struct uchar1 {
    unsigned char x;
};
inline uchar1 make_uchar1(unsigned char x) { return {x}; }
struct uchar2 {
    alignas(2) unsigned char x;
    unsigned char y;
};
inline uchar2 make_uchar2(unsigned char x, unsigned char y) { return {x, y}; }
struct uchar3 {
    unsigned char x;
    unsigned char y, z;
};
inline uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return {x, y, z}; }
struct uchar4 {
    alignas(4) unsigned char x;
    unsigned char y, z, w;
};
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }
struct short1 {
    short x;
};
inline short1 make_short1(short x) { return {x}; }
struct short2 {
    alignas(4) short x;
    short y;
};
inline short2 make_short2(short x, short y) { return {x, y}; }
struct short3 {
    short x;
    short y, z;
};
inline short3 make_short3(short x, short y, short z) { return {x, y, z}; }
struct short4 {
    alignas(8) short x;
    short y, z, w;
};
inline short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }
struct ushort1 {
    unsigned short x;
};
inline ushort1 make_ushort1(unsigned short x) { return {x}; }
struct ushort2 {
    alignas(4) unsigned short x;
    unsigned short y;
};
inline ushort2 make_ushort2(unsigned short x, unsigned short y) { return {x, y}; }
struct ushort3 {
    unsigned short x;
    unsigned short y, z;
};
inline ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return {x, y, z}; }
struct ushort4 {
    alignas(8) unsigned short x;
    unsigned short y, z, w;
};
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return {x, y, z, w};
}
struct int1 {
    int x;
};
inline int1 make_int1(int x) { return {x}; }
struct int2 {
    alignas(8) int x;
    int y;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
struct int3 {
    int x;
    int y, z;
};
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
struct int4 {
    alignas(16) int x;
    int y, z, w;
};
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
struct uint1 {
    unsigned x;
};
inline uint1 make_uint1(unsigned x) { return {x}; }
struct uint2 {
    alignas(8) unsigned x;
    unsigned y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct uint4 {
    alignas(16) unsigned x;
    unsigned y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct longlong1 {
    long long x;
};
inline longlong1 make_longlong1(long long x) { return {x}; }
struct longlong2 {
    alignas(16) long long x;
    long long y;
};
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
struct longlong3 {
    long long x;
    long long y, z;
};
inline longlong3 make_longlong3(long long x, long long y, long long z) { return {x, y, z}; }
struct longlong4 {
    alignas(16) long long x;
    long long y, z, w;
};
inline longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return {x, y, z, w}; }
struct ulonglong1 {
    unsigned long long x;
};
inline ulonglong1 make_ulonglong1(unsigned long long x) { return {x}; }
struct ulonglong2 {
    alignas(16) unsigned long long x;
    unsigned long long y;
};
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
struct ulonglong3 {
    unsigned long long x;
    unsigned long long y, z;
};
inline ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) {
    return {x, y, z};
}
struct ulonglong4 {
    alignas(16) unsigned long long x;
    unsigned long long y, z, w;
};
inline ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z,
                                  unsigned long long w) {
    return {x, y, z, w};
}
struct float1 {
    float x;
};
inline float1 make_float1(float x) { return {x}; }
struct float2 {
    alignas(8) float x;
    float y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
struct float3 {
    float x;
    float y, z;
};
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
struct float4 {
    alignas(16) float x;
    float y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct double1 {
    double x;
};
inline double1 make_double1(double x) { return {x}; }
struct double2 {
    alignas(16) double x;
    double y;
};
inline double2 make_double2(double x, double y) { return {x, y}; }
struct double3 {
    double x;
    double y, z;
};
inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }
struct double4 {
    alignas(16) double x;
    double y, z, w;
};
inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
