#include "runtime/fetch/zero_extents.h"

#include <gtest/gtest.h>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

TEST(ZeroExtents, OfProductsBecomeOneAndThoseOfOtherOperationsStay) {
    const auto& templates = builtin_templates();
    EXPECT_EQ(without_zero_extents(gemm(0, 5, 0), templates), gemm(1, 5, 1));
    EXPECT_EQ(without_zero_extents(batched_gemm(0, 2, 0, 4), templates), batched_gemm(1, 2, 1, 4));
    const Problem transpose{"transpose", "f32", "", {{"M", 0}, {"N", 3}}};
    EXPECT_EQ(without_zero_extents(transpose, templates), transpose) << "nothing says what it would mean";
}

TEST(ZeroExtents, AProductIsEmptyIfItHasNoElementThoughItMayHaveNothingToSum) {
    const GemmArguments full{.batch = 2, .m = 3, .n = 4, .k = 5};
    for (const auto extent : {&GemmArguments::batch, &GemmArguments::m, &GemmArguments::n}) {
        auto empty = full;
        empty.*extent = 0;
        EXPECT_TRUE(is_empty(empty));
    }
    auto without_sum = full;
    without_sum.k = 0;
    EXPECT_FALSE(is_empty(full));
    EXPECT_FALSE(is_empty(without_sum));
}

TEST(ZeroExtents, WithoutASumOrWithAlphaZeroNeitherIsLeft) {
    const GemmArguments full{.batch = 2, .m = 3, .n = 4, .k = 5, .alpha = 2};
    auto changed = full;
    skip_products(changed);
    EXPECT_EQ(changed.k, 5);
    EXPECT_EQ(changed.alpha, 2);
    for (const auto& [k, alpha] : {std::pair{0, 2.0F}, {5, 0.0F}, {5, -0.0F}, {0, 0.0F}}) {
        changed = full;
        changed.k = k;
        changed.alpha = alpha;
        skip_products(changed);
        EXPECT_EQ(changed.k, 0);
        EXPECT_EQ(changed.alpha, 0);
        EXPECT_EQ(changed.m, 3);
        EXPECT_EQ(changed.n, 4);
        EXPECT_EQ(changed.batch, 2);
    }
}

TEST(ZeroExtents, AnOperationIsVerifiedWithoutProductsIfAnyCheckHasK) {
    Operation operation;
    EXPECT_FALSE(is_verified_without_products(operation));
    operation.checks.emplace_back().extents["M"] = 0;
    EXPECT_FALSE(is_verified_without_products(operation));
    operation.checks.emplace_back().extents["K"] = 0;
    EXPECT_TRUE(is_verified_without_products(operation));
}

}  // namespace
}  // namespace smemtune
