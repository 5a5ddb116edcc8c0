#include "tuner/page/data/importance_data.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace smemtune {
namespace {

using ::testing::SizeIs;

// 81 configurations of four parameters with three values each. The effects of the pairs of parameters differ in size.
TEST(ImportanceData, TheFivePairsThatMatterMostAreShownInTheirOrder) {
    ImportanceData data;
    for (std::int64_t i = 0; i < 81; ++i) {
        const std::vector<std::int64_t> level{i % 3, i / 3 % 3, i / 9 % 3, i / 27};
        double log_time = 0;
        double weight = 1;
        for (std::size_t second = 0; second < 4; ++second) {
            for (std::size_t first = 0; first < second; ++first, ++weight) {
                log_time += weight * static_cast<double>(level[first] * level[second]);
            }
        }
        const Configuration configuration{{{"A", level[0]}, {"B", level[1]}, {"C", level[2]}, {"D", level[3]}}};
        data.add({}, configuration, Measurement{.median_us = std::exp(log_time / 6)});
    }
    const auto found = data.to_json([](const auto&) { return ImportanceData::Origin{}; });
    ASSERT_THAT(found, SizeIs(1));
    ASSERT_TRUE(found[0].contains("pairs")) << found;
    const auto& pairs = found[0]["pairs"];
    ASSERT_THAT(pairs, SizeIs(5)) << found;
    EXPECT_EQ(pairs[0]["first"], "C");
    EXPECT_EQ(pairs[0]["second"], "D");
    for (std::size_t i = 1; i < pairs.size(); ++i) EXPECT_LE(pairs[i]["share"], pairs[i - 1]["share"]);
}

}  // namespace
}  // namespace smemtune
