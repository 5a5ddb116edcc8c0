#include "runtime/gemm_arguments.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/runtime/support.h"

namespace smemtune {
namespace {

TEST(GemmArguments, AreReadInTheOrderOfTheManifest) {
    int m = 2;
    int n = 3;
    int k = 5;
    float alpha = 7;
    float beta = 11;
    const float matrix = 0;
    const void* a = &matrix;
    const void* b = &m;
    void* c = &n;
    long long lda = 13;
    long long ldb = 17;
    long long ldc = 19;
    const std::array<void*, 11> addresses{&m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc};
    const auto read = gemm_arguments(addresses.data());
    EXPECT_EQ(std::tuple(read.m, read.n, read.k, read.alpha, read.beta), std::tuple(2, 3, 5, 7.0F, 11.0F));
    EXPECT_EQ(std::tuple(read.a, read.b, read.c), std::tuple(a, b, c));
    EXPECT_EQ(std::tuple(read.lda, read.ldb, read.ldc), std::tuple(13, 17, 19));
}

TEST(GemmArguments, AreThoseOfTheBuiltInOperationAndOfNoOther) {
    for (const auto& kernel : load_templates(builtin_sources())) {
        EXPECT_EQ(takes_gemm_arguments(kernel.operation), kernel.operation.name == "gemm") << kernel.name;
        auto other = kernel.operation;
        other.arguments.pop_back();
        EXPECT_FALSE(takes_gemm_arguments(other));
    }
}

TEST(ColumnMajor, AStoredMatrixKeepsItsStrideAndSwapsItsExtents) {
    GemmArguments given{.m = 2, .n = 3, .k = 5, .lda = 8, .ldb = 9, .ldc = 10};
    const auto nn = column_major(given, "nn");
    EXPECT_EQ(std::tuple(nn.m, nn.n, nn.k, nn.result_stride), std::tuple(3, 2, 5, 10));
    EXPECT_EQ(std::tuple(nn.first.rows, nn.first.columns, nn.first.stride, nn.first.transposed),
              std::tuple(3, 5, 9, false))
        << "B is K x N in rows of 9";
    EXPECT_EQ(std::tuple(nn.second.rows, nn.second.columns, nn.second.stride, nn.second.transposed),
              std::tuple(5, 2, 8, false));
    const auto nt = column_major(given, "nt");
    EXPECT_EQ(std::tuple(nt.first.rows, nt.first.columns, nt.first.transposed, nt.second.transposed),
              std::tuple(5, 3, true, false))
        << "the second letter is B's, and B comes first";
    const auto tn = column_major(given, "tn");
    EXPECT_EQ(std::tuple(tn.second.rows, tn.second.columns, tn.second.transposed, tn.first.transposed),
              std::tuple(2, 5, true, false));
}

}  // namespace
}  // namespace smemtune
