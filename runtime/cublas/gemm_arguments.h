// Converts between the arguments of matrix products by name and by position, for typed callers and vendor libraries.
#pragma once

#include <array>
#include <optional>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// C[i][m,n] = alpha * op(A[i])[m,k] * op(B[i])[k,n] + beta * C[i] for every i < batch, row-major, of a type with
/// scalars in FP32. Matrix i starts i * stride_x elements behind the first.
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

/// The operation: gemm or batched_gemm. The arguments of gemm have neither a batch nor batch strides.
enum class GemmKind { single, batched };
GemmKind gemm_kind(const Problem& problem);
/// Nothing for other operations, including user-defined ones with the same name and other arguments.
std::optional<GemmKind> gemm_kind(const Operation& operation);

/// Sizes of the stored matrices of a product, in elements.
struct GemmShapes {
    struct Shape {
        std::int64_t rows = 0, columns = 0;
    };
    Shape a, b, c;
};
GemmShapes stored_shapes(const GemmArguments& arguments, bool transposed_a, bool transposed_b);

/// Batch, M, N and K of a problem of this kind.
GemmArguments gemm_extents(const Problem& problem, GemmKind kind);
/// Extents and strides of packed rows and matrices. The layout is nn, nt, tn or tt.
GemmArguments packed_gemm(const Problem& problem);

/// Reads the arguments of a launch: one address for each, in the order of the kind's `operation.toml`.
GemmArguments gemm_arguments(void* const* arguments, GemmKind kind = GemmKind::single);
/// The arguments of a launch as addresses, in the same order.
std::array<void*, 15> addresses_of(GemmArguments& arguments, GemmKind kind);

/// The same product for libraries with column-major matrices: a row-major matrix is the transpose of a column-major
/// one, and C^T = op(B)^T op(A)^T.
struct ColumnMajorGemm {
    struct Matrix {
        const void* data = nullptr;
        bool transposed = false;
        std::int64_t rows = 0, columns = 0, stride = 0, batch_stride = 0;  ///< as stored
    };
    int batch = 1;
    int m = 0, n = 0, k = 0;  ///< of the transposed product: its rows are the columns of C
    Matrix first, second;
    void* result = nullptr;
    std::int64_t result_stride = 0, result_batch_stride = 0;
};
/// `layout`: nn, nt, tn or tt.
ColumnMajorGemm column_major(const GemmArguments& arguments, const std::string& layout);

}  // namespace smemtune
