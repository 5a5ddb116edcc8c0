#include "runtime/cublas/gemm_arguments.h"

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

TEST(GemmArguments, OfABatchHaveItsCountFirstAndABatchStrideBehindEachStride) {
    GemmArguments given{.batch = 2,
                        .m = 3,
                        .n = 5,
                        .k = 7,
                        .alpha = 11,
                        .lda = 13,
                        .stride_a = 17,
                        .ldb = 19,
                        .stride_b = 23,
                        .beta = 29,
                        .ldc = 31,
                        .stride_c = 37};
    const auto addresses = addresses_of(given, GemmKind::batched);
    std::vector<long long> numbers;
    for (const std::size_t i : {0U, 1U, 2U, 3U}) numbers.push_back(*static_cast<int*>(addresses.at(i)));
    for (const std::size_t i : {6U, 7U, 9U, 10U, 13U, 14U})
        numbers.push_back(*static_cast<long long*>(addresses.at(i)));
    EXPECT_EQ(numbers, (std::vector<long long>{2, 3, 5, 7, 13, 17, 19, 23, 31, 37}));
    const auto read = gemm_arguments(addresses.data(), GemmKind::batched);
    EXPECT_EQ(std::tuple(read.batch, read.alpha, read.stride_a, read.stride_b, read.beta, read.stride_c),
              std::tuple(2, 11.0F, 17, 23, 29.0F, 37));
}

TEST(GemmArguments, AreThoseOfTheBuiltInOperationsAndOfNoOther) {
    for (const auto& kernel : builtin_templates()) {
        const auto& name = kernel.operation.name;
        const auto kind = gemm_kind(kernel.operation);
        EXPECT_EQ(kind == GemmKind::single, name == "gemm") << kernel.name;
        EXPECT_EQ(kind == GemmKind::batched, name == "batched_gemm") << kernel.name;
        auto other = kernel.operation;
        other.arguments.pop_back();
        EXPECT_FALSE(gemm_kind(other));
    }
}

TEST(GemmArguments, AGemmThatTransposesOnlyOneMatrixIsAnother) {
    const auto& kernels = builtin_templates();
    const auto gemm = std::ranges::find(kernels, "naive", &KernelTemplate::name)->operation;
    ASSERT_EQ(gemm_kind(gemm), GemmKind::single);
    for (const auto* constant : {"TRANSPOSE_A", "TRANSPOSE_B"}) {
        auto other = gemm;
        for (auto& layout : other.layouts) layout.second.erase(constant);
        EXPECT_FALSE(gemm_kind(other)) << constant;
    }
}

TEST(GemmArguments, PackedStridesAreThoseOfTheStoredMatrices) {
    for (const auto& [layout, lda, ldb] : {std::tuple("nn", 7, 5), {"nt", 7, 7}, {"tn", 3, 5}, {"tt", 3, 7}}) {
        const auto single = packed_gemm(gemm(3, 5, 7, "f32", layout));
        EXPECT_EQ(std::tuple(single.batch, single.m, single.n, single.k), std::tuple(1, 3, 5, 7));
        EXPECT_EQ(std::tuple(single.lda, single.ldb, single.ldc), std::tuple(lda, ldb, 5)) << layout;
        EXPECT_EQ(single.stride_b, 0);
        const auto batch = packed_gemm(batched_gemm(2, 3, 5, 7, "f32", layout));
        EXPECT_EQ(std::tuple(batch.batch, batch.m, batch.n, batch.k), std::tuple(2, 3, 5, 7));
        EXPECT_EQ(std::tuple(batch.lda, batch.ldb, batch.ldc), std::tuple(lda, ldb, 5)) << layout;
        EXPECT_EQ(std::tuple(batch.stride_a, batch.stride_b, batch.stride_c), std::tuple(21, 35, 15)) << layout;
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
    given.batch = 4;
    given.stride_a = 100;
    given.stride_b = 200;
    given.stride_c = 300;
    const auto batch = column_major(given, "nn");
    EXPECT_EQ(std::tuple(batch.batch, batch.first.batch_stride, batch.second.batch_stride, batch.result_batch_stride),
              std::tuple(4, 200, 100, 300));
    const auto tn = column_major(given, "tn");
    EXPECT_EQ(std::tuple(tn.second.rows, tn.second.columns, tn.second.transposed, tn.first.transposed),
              std::tuple(2, 5, true, false));
}

}  // namespace
}  // namespace smemtune
