#include "tuner/trial/output_comparison.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smemtune {
namespace {

// The integers of the wide input have more bits than TF32, so every kernel that rounds to TF32 is detected. Every sum
// still fits into the 24 bits of a float.
TEST(Integers, OfTheWideInputNeedMoreBitsThanTf32AtEveryDepth) {
    const Check check{.integers = true, .wide = "A", .scalars = {{"alpha", 2}, {"beta", -3}}};
    const Argument wide{.name = "A", .kind = Argument::Kind::input};
    const Argument other{.name = "B", .kind = Argument::Kind::input};
    const Argument output{.name = "C", .kind = Argument::Kind::output};
    for (const std::int64_t terms : {1, 16, 63, 64, 65, 1024, 65536}) {
        const auto n = static_cast<double>(terms);
        const auto sum = integer_magnitude(terms, check, wide) * std::min(n, 8 * std::sqrt(n));
        EXPECT_GT(integer_magnitude(terms, check, wide), 2048) << terms;
        EXPECT_EQ(integer_magnitude(terms, check, other), 1);
        EXPECT_LE(3 * (sum + integer_magnitude(terms, check, output)), 0x1p24) << terms;
    }
}

// The integers, at most 8, are as large as possible while every sum of products fits into the 24 bits of a float.
TEST(Integers, AreAsLargeAsAnyOrderOfAdditionAllows) {
    const Argument input{.name = "A", .kind = Argument::Kind::input};
    for (const double alpha : {1.0, -3.0}) {
        const Check check{.integers = true, .scalars = {{"alpha", alpha}, {"beta", 1}}};
        for (std::int64_t terms = 1; terms <= 1 << 22; terms *= 2) {
            const auto magnitude = integer_magnitude(terms, check, input);
            const auto sum = [&](double each) { return std::abs(alpha) * static_cast<double>(terms) * each * each; };
            EXPECT_TRUE(magnitude == 1 || sum(magnitude) <= 0x1p24) << terms << " terms of " << magnitude;
            EXPECT_TRUE(magnitude == 8 || sum(magnitude + 1) > 0x1p24) << terms << " terms of " << magnitude;
        }
    }
}

TEST(ErrorFactor, IsThatOfHigham) {
    const double u = 0x1p-24;
    EXPECT_DOUBLE_EQ(error_factor(0, u), 0) << "exact";
    EXPECT_DOUBLE_EQ(error_factor(1, u), u / (1 - u));
    EXPECT_DOUBLE_EQ(error_factor(1 << 20, u), 0x1p-4 / (1 - 0x1p-4));
    EXPECT_TRUE(std::isinf(error_factor(1 << 24, u)));
    EXPECT_TRUE(std::isinf(error_factor(std::int64_t{1} << 40, u)));
}

}  // namespace
}  // namespace smemtune
