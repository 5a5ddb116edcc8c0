#include "util/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

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

// The interval runs from the 1st to the 6th ordered ratio with 6 pairs, from the 2nd to the 8th with 9 pairs, and from
// the 7th to the 18th with 24 pairs (tables in Conover).
TEST(RatioInterval, IsThatOfTheTextbook) {
    for (const auto& [pairs, low, high] : {std::tuple{6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {24, 7, 18}, {3, 1, 3}}) {
        std::vector<double> a(static_cast<std::size_t>(pairs));
        const std::vector<double> b(a.size(), 1.0);
        for (int i = 0; i < pairs; ++i) a[static_cast<std::size_t>(i)] = pairs - i;
        EXPECT_EQ(ratio_interval(a, b), (std::pair<double, double>(low, high))) << pairs;
    }
}

// 2^-n, the probability of a single outcome, is less than the smallest double here.
TEST(RatioInterval, OfManyPairsIsNarrow) {
    constexpr std::size_t pairs = 4000;
    std::vector<double> a(pairs);
    for (std::size_t i = 0; i < pairs; ++i) a[i] = static_cast<double>(i + 1);
    const auto [low, high] = ratio_interval(a, std::vector<double>(pairs, 1.0));
    EXPECT_EQ(low, 1938);  // the rank 2000 - 1.96 sqrt(1000), rounded down
    EXPECT_EQ(high, 4001 - low);
}

TEST(RatioInterval, IsThatOfTheFirstOverTheSecondOfEachPair) {
    EXPECT_EQ(ratio_interval(std::vector{6.0, 1.0, 8.0}, std::vector{3.0, 4.0, 2.0}), (std::pair{0.25, 4.0}));
    EXPECT_EQ(ratio_interval(std::vector{6.0}, std::vector{3.0}), (std::pair{2.0, 2.0}));
}

// The interval must contain the median with a probability of at least 95 %. The test computes the probability by
// counting.
TEST(RatioInterval, LeavesOutNoMoreThanTwoAndAHalfPercentOnEachSide) {
    for (std::size_t pairs = 1; pairs <= 60; ++pairs) {
        std::vector<double> a(pairs);
        for (std::size_t i = 0; i < pairs; ++i) a[i] = static_cast<double>(i + 1);
        const auto low = static_cast<std::size_t>(ratio_interval(a, std::vector<double>(pairs, 1.0)).first);
        // The probability that fewer than `count` of the pairs lie below the median, from a row of Pascal's triangle.
        const auto below = [&](std::size_t count) {
            std::vector<double> row{1};
            for (std::size_t n = 0; n < pairs; ++n) {
                std::vector<double> next(row.size() + 1);
                for (std::size_t k = 0; k < row.size(); ++k) {
                    next[k] += row[k] / 2;
                    next[k + 1] += row[k] / 2;
                }
                row = std::move(next);
            }
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k) sum += row[k];
            return sum;
        };
        EXPECT_GT(below(low + 1), 0.025) << pairs;
        EXPECT_TRUE(low == 1 || below(low) <= 0.025) << pairs;
        EXPECT_EQ(below(1) <= 0.025, pairs >= least_for_interval) << pairs;
    }
}

TEST(Quantile, TakesItsOwnFractionAndLeavesTheOrderOfTheValuesAlone) {
    const std::vector<double> values{30, 10, 20, 50, 40};
    for (const auto& [fraction, value] :
         {std::pair{0.0, 10.0}, {0.1, 14.0}, {0.25, 20.0}, {0.5, 30.0}, {0.9, 46.0}, {1.0, 50.0}}) {
        EXPECT_DOUBLE_EQ(quantile(values, fraction), value) << fraction;
    }
    EXPECT_DOUBLE_EQ(median(values), 30);
    EXPECT_EQ(quantile({1, 2, std::numeric_limits<double>::infinity()}, 0.5), 2);
}

}  // namespace
}  // namespace smemtune
