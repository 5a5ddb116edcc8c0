#include "util/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace smemtune {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
    EXPECT_DOUBLE_EQ(quantile({5}, 0.25), 5);
    EXPECT_DOUBLE_EQ(quantile({4, 1}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
}

TEST(Median, OfInfiniteValuesIsANumber) {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(median({infinity, infinity}), infinity);
    EXPECT_EQ(median({1, infinity}), infinity) << "half of the way to infinity";
    EXPECT_EQ(median({infinity, 3, 1}), 3);
}

// With 6 pairs, the interval runs from the 1st to the 6th of the ordered ratios; with 9, from the 2nd to the 8th; with
// 24, from the 7th to the 18th (tables in Conover).
TEST(RatioInterval, IsThatOfTheTextbook) {
    for (const auto& [pairs, low, high] : {std::tuple{6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {24, 7, 18}, {3, 1, 3}}) {
        std::vector<double> a(static_cast<std::size_t>(pairs));
        const std::vector<double> b(a.size(), 1.0);
        for (int i = 0; i < pairs; ++i) a[static_cast<std::size_t>(i)] = pairs - i;
        EXPECT_EQ(ratio_interval(a, b), (std::pair<double, double>(low, high))) << pairs;
    }
}

}  // namespace
}  // namespace smemtune
