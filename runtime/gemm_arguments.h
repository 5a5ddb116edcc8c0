// The arguments of a matrix product by name: typed callers and vendor libraries take them apart and put them together.
#pragma once

#include "templates/kernel_template.h"

namespace smemtune {

/// C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, row-major, of `f32`.
struct GemmArguments {
    int m = 0, n = 0, k = 0;
    float alpha = 1;
    const void* a = nullptr;
    long long lda = 0;
    const void* b = nullptr;
    long long ldb = 0;
    float beta = 0;
    void* c = nullptr;
    long long ldc = 0;
};

/// Whether an operation is this one: a user's folder may declare another of the same name.
bool takes_gemm_arguments(const Operation& operation);

/// From what a launch gets: one address for each argument, in the order of `gemm/operation.toml`.
GemmArguments gemm_arguments(void* const* arguments);

/// The same product as libraries for column-major matrices compute it: a row-major matrix is the transpose of a
/// column-major one, and C^T = op(B)^T op(A)^T.
struct ColumnMajorGemm {
    struct Matrix {
        const void* data = nullptr;
        bool transposed = false;
        std::int64_t rows = 0, columns = 0, stride = 0;  ///< as it is stored
    };
    int m = 0, n = 0, k = 0;  ///< of the transposed product: its rows are the columns of C
    Matrix first, second;
    void* result = nullptr;
    std::int64_t result_stride = 0;
};
/// `layout`: nn, nt, tn or tt.
ColumnMajorGemm column_major(const GemmArguments& arguments, const std::string& layout);

}  // namespace smemtune
