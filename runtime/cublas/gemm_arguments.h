// Converts the arguments of matrix products between a struct, the array that a launch takes, and the column-major form
// of vendor libraries.
#pragma once

#include <array>
#include <optional>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The arguments of C[i] = alpha * op(A[i]) * op(B[i]) + beta * C[i] for every i < batch, row-major. op(A[i]) is m x k,
/// op(B[i]) is k x n, C[i] is m x n. Matrix i of A starts i * stride_a elements after the first; B and C likewise.
struct GemmArguments {
    int batch = 1;
    int m = 0, n = 0, k = 0;
    float alpha = 1;
    const void* a = nullptr;
    long long lda = 0, stride_a = 0;
    const void* b = nullptr;
    long long ldb = 0, stride_b = 0;
    float beta = 0;
    void* c = nullptr;
    long long ldc = 0, stride_c = 0;
};

/// The operation gemm (single) or batched_gemm (batched). The arguments of gemm have neither a batch nor batch strides.
enum class GemmKind { single, batched };
GemmKind gemm_kind(const Problem& problem);
/// Returns nullopt unless the operation has the name and the arguments of gemm or batched_gemm, declares no types of
/// arguments, and has TRANSPOSE_A and TRANSPOSE_B in every layout. A user's own operation with one of these names may
/// differ.
std::optional<GemmKind> gemm_kind(const Operation& operation);

/// Sizes of the stored matrices of a product, in elements.
struct GemmShapes {
    struct Shape {
        std::int64_t rows = 0, columns = 0;
    };
    Shape a, b, c;
};
GemmShapes stored_shapes(const GemmArguments& arguments, bool transposed_a, bool transposed_b);

/// Returns arguments with the batch, M, N and K of `problem`, which must be a problem of `kind`.
GemmArguments gemm_extents(const Problem& problem, GemmKind kind);
/// Returns arguments with the extents of `problem`, and with strides for packed rows and matrices. The problem's layout
/// must be nn, nt, tn or tt.
GemmArguments packed_gemm(const Problem& problem);

/// Reads the arguments of a launch. `arguments` has one address for each argument, in the order of gemm's or
/// batched_gemm's `operation.toml`.
GemmArguments gemm_arguments(void* const* arguments, GemmKind kind = GemmKind::single);
/// The inverse of gemm_arguments(): returns the address of each argument, in the order of `operation.toml`.
std::array<void*, 15> addresses_of(GemmArguments& arguments, GemmKind kind);

/// A row-major product in the form that a library with column-major matrices takes. A row-major matrix in memory is a
/// transposed column-major matrix, so the library computes C^T = op(B)^T op(A)^T.
struct ColumnMajorGemm {
    struct Matrix {
        const void* data = nullptr;
        bool transposed = false;
        std::int64_t rows = 0, columns = 0, stride = 0, batch_stride = 0;  ///< of the column-major matrix
    };
    int batch = 1;
    int m = 0, n = 0, k = 0;  ///< extents of the transposed product: m is the N of the row-major product, n is its M
    Matrix first, second;
    void* result = nullptr;
    std::int64_t result_stride = 0, result_batch_stride = 0;
};
/// Converts a row-major product. `layout` must be nn, nt, tn or tt.
ColumnMajorGemm column_major(const GemmArguments& arguments, const std::string& layout);

}  // namespace smemtune
