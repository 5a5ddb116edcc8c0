// Tricks against the compiler. The algorithm needs none of them: read each function as the plain load, store or pointer
// that the first line of its comment describes.
//
// The tricks have two reasons. First, the main loop consists of FFMAs (machine instructions of one multiply-add each),
// and any other instruction takes the issue slot of an FFMA. Second, registers lie in two banks: even and odd numbers.
// Each bank delivers one register per cycle. An FFMA with three different operands takes one cycle only if it keeps one
// operand of the previous FFMA (`.reuse`) and its other two operands lie in different banks. Otherwise it takes two
// cycles: a bank conflict. ptxas assigns the registers. A kernel can only be written so that ptxas is likely to find an
// assignment with few conflicts.
//
// How the effects were seen: NVRTC 13.0 compiled warp_tiled for sm_90 with and without each trick. The instructions and
// conflicts of the main loop were counted per 1024 FFMAs, for the configuration of gemm/warp_tiled/README.md unless
// said otherwise. With all tricks the loop has 1114 instructions and 59 bank conflicts.
//
// Some tricks need no function of their own, only a certain order of statements. Their code is in other files:
//   - load order (load_fragments in gemm/warp_tiled/fragment.h): the operand that is loaded first gets the lower
//     register numbers. The compiler puts the register with the lower number into the first operand slot of an FFMA.
//     An FFMA can keep an operand for the next FFMA (`.reuse`) only in the same slot. Seen as: one more conflict per
//     column of accumulators if the operands are loaded in the wrong order.
//   - dummy load (fix_register_order, same file): both fragment buffers get their registers before the loop, one after
//     the other. Seen as: 125 conflicts without the dummy load.
//   - back and forth (multiply, same file): consecutive FFMAs share an operand.
//   - scale first (warp_tiled_product in gemm/warp_tiled/product.h): alpha multiplies all accumulators before output.h
//     reads them. A store of 16 bytes needs four consecutive registers. The products are stored, not the accumulators,
//     so the accumulators do not need such registers. Seen as: 67 conflicts, and 5 more instructions, if output.h
//     multiplies by alpha instead.
#pragma once

#include "device/vector.h"

/// Returns `address`, which must be in shared memory.
/// Trick: pin_register. The address goes through a shuffle in which each lane reads its own value.
/// Effect: the address stays in one register, because the compiler cannot compute the result of a shuffle again.
/// Without the trick, when registers are scarce, the compiler computes the address from threadIdx before each use.
/// Seen as: 28 more instructions without the trick, in a loop of 1189 (BLOCK_M=16, BLOCK_N=192, BLOCK_K=32).
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
/// Trick: SharedAddress. It is a 32-bit address in the shared window instead of a 64-bit generic pointer.
/// Effect: a constant offset becomes part of the load instruction. With a 64-bit pointer, NVRTC adds the offset in
/// separate instructions.
/// Seen as: 35 more additions without the trick.
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
/// Trick: opaque predicate. The load depends on the condition `opaque_true > 0`. The condition is always true, but the
/// compiler cannot know this, because callers pass an extent of the matrix.
/// Effect: `to` keeps its registers. As far as the compiler knows, the load might not happen and the old values might
/// remain, so the load must write to the registers of the old values. Without the trick, ptxas gives each load new
/// registers, moves accumulators out of their way, and reorders the FFMAs.
/// Seen as: 182 conflicts without the trick.
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
/// Trick: store_alone. The store is volatile, so the compiler cannot merge four stores into one of 16 bytes.
/// Effect: the values may stay in any registers. A store of 16 bytes needs four consecutive registers. If accumulators
/// are stored 16 bytes at once, ptxas may keep them in consecutive registers, and thus in unsuitable banks, during the
/// whole main loop.
/// Seen as: no measured effect with NVRTC 13.0: 80 conflicts per 1024 FFMAs without the trick and 81 with it (split-K,
/// with the configuration given at pin_register). The trick is kept because its removal would change the machine code,
/// and stored trials would no longer be valid.
__device__ __forceinline__ void store_alone(float* to, float value) { *static_cast<volatile float*>(to) = value; }

/// If `wanted`, stores four[j] + zero (j = 0 .. 3) as 16 bytes at `to`, which is aligned to 16. `zero` must be 0.
/// Trick: store_four_sums. It adds a zero that the compiler does not know to be zero, in a single asm statement.
/// Effect: a store of 16 bytes needs four consecutive registers. Because of the addition, only its results need such
/// registers, so the accumulators can have registers that suit the banks in the main loop. NVRTC's optimizer handles an
/// asm statement as one instruction, so it has fewer instructions to process.
/// Seen as: 173 conflicts without the addition, 100 with it (the winner at 4096 in layout nt). A program takes a sixth
/// longer to compile if C++ statements replace the asm statement.
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
