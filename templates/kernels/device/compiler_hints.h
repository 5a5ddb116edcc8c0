// Tricks against the compiler. The algorithm needs none of them: read each function as the plain load, store or pointer
// that its first line describes.
//
// The reason for the tricks: in a loop of FFMAs (machine instructions of one multiply-add each), any other instruction
// takes the issue slot of one. Registers lie in two banks, by parity, each with one read per cycle. So an FFMA with
// three different operands needs two cycles (a bank conflict), unless one operand is held back from the instruction
// before (`.reuse`) and the other two lie in different banks. ptxas assigns the registers, so a kernel can only make
// the wanted assignment the easiest.
//
// How it was seen: machine code of NVRTC 13.0 for sm_90 with and without the trick, counted in the main loop of
// warp_tiled per 1024 FFMAs, for the configuration of gemm/warp_tiled/README.md unless said otherwise. With all tricks
// the loop has 1114 instructions and 59 bank conflicts.
//
// Some tricks are only an order of statements, so they stay where the statements are:
//   - load order (load_fragments in gemm/warp_tiled/fragment.h): the first loads decide the numbers of the registers.
//     An FFMA keeps an operand for the next FFMA (`.reuse`) only in the same operand slot, and the compiler puts the
//     lower register first. Seen as: one conflict more per column of accumulators in the wrong order.
//   - dummy load (fix_register_order, same file): both fragment buffers get their registers before the loop, one after
//     the other. Seen as: 125 conflicts without.
//   - back and forth (multiply, same file): neighbouring FFMAs share an operand.
//   - scale first (warp_tiled_product in gemm/warp_tiled/product.h): alpha multiplies all accumulators before anything
//     else reads them, so stores of 16 bytes bind the registers of the products and not those of the accumulators.
//     Seen as: 67 conflicts and 5 instructions more if output.h multiplies.
#pragma once

#include "device/vector.h"

/// The same address in shared memory.
/// Trick: pin_register. The address makes a round trip through a shuffle of the lane with itself.
/// Effect: the address stays in one register. Without it, when registers are scarce, the compiler computes the address
/// again before each use, starting from threadIdx: it cannot compute the result of a shuffle again.
/// Seen as: 28 instructions more without, in a loop of 1189 (BLOCK_M = 16, BLOCK_N = 192, BLOCK_K = 32).
template <class T>
__device__ __forceinline__ T* pin_register(T* address) {
#ifdef SMEMTUNE_HOST
    return address;
#else
    const auto narrow = static_cast<unsigned>(__cvta_generic_to_shared(address));
    return static_cast<T*>(__cvta_shared_to_generic(__shfl_sync(0xffffffffu, narrow, threadIdx.x % 32)));
#endif
}

/// A pointer into shared memory.
/// Trick: SharedAddress. It holds the 32-bit address in the shared window instead of a 64-bit generic pointer.
/// Effect: a constant offset becomes part of the load instruction. NVRTC adds an offset to a 64-bit pointer in
/// instructions of its own.
/// Seen as: 35 additions more without.
struct SharedAddress {
#ifdef SMEMTUNE_HOST
    const float* at;
    explicit SharedAddress(const float* pointer) : at(pointer) {}
    SharedAddress operator+(int elements) const { return SharedAddress(at + elements); }
#else
    unsigned at;
    explicit __device__ __forceinline__ SharedAddress(const float* pointer)
        : at(static_cast<unsigned>(__cvta_generic_to_shared(pointer))) {}
    __device__ __forceinline__ SharedAddress operator+(int elements) const {
        SharedAddress sum = *this;
        sum.at += 4 * elements;
        return sum;
    }
#endif
};

/// Loads 16 bytes, aligned to 16, into `to`. `opaque_true` must be positive.
/// Trick: opaque predicate. The load depends on `opaque_true > 0`, which always holds, but the compiler cannot know it:
/// callers pass an extent of the matrix.
/// Effect: `to` keeps its registers. If the load might not happen, the old values must survive in place, so the load
/// writes to the registers that hold them. Without it ptxas gives each load new registers, moves accumulators out of
/// their way, and reorders the FFMAs.
/// Seen as: 182 conflicts without.
__device__ __forceinline__ void load_four_in_place(int opaque_true, float* to, SharedAddress from) {
#ifdef SMEMTUNE_HOST
    if (opaque_true > 0) load_four(to, from.at);
#else
    asm volatile(
        "{\n"
        ".reg .pred opaque_true;\n"
        "setp.gt.s32 opaque_true, %5, 0;\n"
        "@opaque_true ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
        "}"
        : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
        : "r"(from.at), "r"(opaque_true)
        : "memory");
#endif
}

/// Stores one value.
/// Trick: store_alone. The store is volatile, so the compiler cannot merge four of them into one of 16 bytes.
/// Effect: the values may stay in any registers. A store of 16 bytes needs four consecutive registers, and for
/// accumulators that can decide their banks during the whole main loop.
/// Seen as: no measured effect with NVRTC 13.0 (80 and 81 conflicts per 1024 FFMAs, without and with, in that loop of
/// 1189 instructions with split-K). It is kept because the machine code changes without it.
__device__ __forceinline__ void store_alone(float* to, float value) { *static_cast<volatile float*>(to) = value; }

/// Stores four[j] + zero as 16 bytes at `to`, aligned to 16, if `wanted`. `zero` must be 0.
/// Trick: store_four_sums. It adds a zero that the compiler does not know, and is one instruction for the optimizer.
/// Effect: the sums, not the accumulators that they are made of, lie in four consecutive registers, which decide the
/// banks of the main loop. And the optimizer of NVRTC has a quarter of the instructions to look at.
/// Seen as: 173 conflicts instead of 100 without the addition (the winner at 4096 in layout nt). A program takes a
/// sixth longer to compile with the same statements in C++.
__device__ __forceinline__ void store_four_sums(float* to, const float* four, float zero, bool wanted) {
#ifdef SMEMTUNE_HOST
    for (int i = 0; i < 4 && wanted; ++i) to[i] = four[i] + zero;
#else
    asm volatile(
        "{\n"
        ".reg .f32 sum<4>;\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %6, 0;\n"
        "add.f32 sum0, %1, %5;\n"
        "add.f32 sum1, %2, %5;\n"
        "add.f32 sum2, %3, %5;\n"
        "add.f32 sum3, %4, %5;\n"
        "@wanted st.global.v4.f32 [%0], {sum0, sum1, sum2, sum3};\n"
        "}" ::"l"(to),
        "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3]), "f"(zero), "r"(static_cast<int>(wanted))
        : "memory");
#endif
}
