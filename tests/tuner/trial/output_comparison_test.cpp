#include "tuner/trial/output_comparison.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smemtune {
namespace {

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
