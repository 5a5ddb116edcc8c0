#include "tuner/search/encoding.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

std::shared_ptr<const ParameterSpace> line(std::vector<std::int64_t> values) {
    const auto first = values.front();
    return std::make_shared<ParameterSpace>(
        std::vector<Parameter>{{"FIXED", {7}, 7, ""}, {"X", std::move(values), first, ""}}, std::vector<Constraint>{},
        Environment{});
}

TEST(Encoding, GivesPowersOfTwoTheirRankAlone) {
    FeatureCache cache({line({8, 16, 32, 64, 128})});
    const Encoding encoding(cache);
    EXPECT_EQ(encoding.inverse_scales().size(), 1U);
    EXPECT_THAT(encoding.encode(0), ElementsAre(0));
    EXPECT_THAT(encoding.encode(1), ElementsAre(0.25));
    EXPECT_THAT(encoding.encode(4), ElementsAre(1));
}

TEST(Encoding, AddsTheAlignmentWhereItSaysMore) {
    FeatureCache cache({line({16, 32, 48, 64})});
    const Encoding encoding(cache);
    EXPECT_THAT(encoding.encode(1), ElementsAre(FloatEq(1.0F / 3), 0.5));
    EXPECT_THAT(encoding.encode(2), ElementsAre(FloatEq(2.0F / 3), 0));
    EXPECT_THAT(encoding.encode(3), ElementsAre(1, 1));
}

TEST(Encoding, TakesZeroForAsLittleAlignedAsAnOddValue) {
    FeatureCache cache({line({0, 1, 2, 3, 4})});
    const Encoding encoding(cache);
    EXPECT_THAT(encoding.encode(0), ElementsAre(0, 0));
    EXPECT_THAT(encoding.encode(2), ElementsAre(0.5, 0.5));
    EXPECT_THAT(encoding.encode(4), ElementsAre(1, 1));
}

TEST(Encoding, RanksByTheValueWhateverTheOrderInTheManifest) {
    const auto space = line({64, 8, 32, 16, 128});
    FeatureCache cache({space});
    const Encoding encoding(cache);
    EXPECT_THAT(encoding.encode(space->find(parse_configuration("FIXED=7,X=8")).value()), ElementsAre(0));
}

TEST(Encoding, AddsFeaturesAndTheEstimateAsRanksWhateverTheirScale) {
    SearchSetup setup{line({8, 16, 32, 64, 128})};
    setup.features = [](const Configuration& each) { return std::vector{std::exp(each.values.at("X")), 3.0}; };
    setup.estimate = [](const Configuration& each) {
        return each.values.at("X") > 100 ? std::numeric_limits<double>::quiet_NaN() : 1e-9;
    };
    FeatureCache cache(setup);
    const Encoding encoding(cache);
    EXPECT_EQ(encoding.inverse_scales().size(), 4U);
    EXPECT_THAT(encoding.encode(0), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(encoding.encode(4), ElementsAre(1, FloatEq(0.8F), 0, FloatEq(0.8F)));
}

}  // namespace
}  // namespace smemtune
