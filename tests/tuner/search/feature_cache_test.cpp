#include "tuner/search/feature_cache.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

TEST(FeatureCache, AskOnceForEachPoint) {
    int estimates = 0;
    int features = 0;
    SearchSetup setup{cube()};
    setup.estimate = [&](const Configuration& each) { return ++estimates, static_cast<double>(each.values.at("A")); };
    setup.features = [&](const Configuration& each) {
        ++features;
        return std::vector{static_cast<double>(each.values.at("B"))};
    };
    FeatureCache cache(setup);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 100; ++i) {
            EXPECT_EQ(cache.estimate(i), static_cast<double>((*setup.space)[i].values.at("A")));
            EXPECT_THAT(cache.features(i), ::testing::ElementsAre((*setup.space)[i].values.at("B")));
        }
    }
    EXPECT_EQ(estimates, 100);
    EXPECT_EQ(features, 100);
}

TEST(FeatureCache, TakeWhatIsNotANumberForInfinite) {
    SearchSetup setup{cube()};
    setup.estimate = [](const Configuration&) { return std::numeric_limits<double>::quiet_NaN(); };
    FeatureCache cache(setup);
    EXPECT_EQ(cache.estimate(0), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(cache.features(0).empty());
}

TEST(FeatureCache, OfNoConfigurationAreAskedForTwiceDuringASearch) {
    for (const auto& name : search_names()) {
        std::map<std::string, int> estimates;
        std::map<std::string, int> features;
        SearchSetup setup{cube(), 3};
        setup.estimate = [&](const Configuration& each) { return ++estimates[to_text(each)], 1.0; };
        setup.features = [&](const Configuration& each) { return ++features[to_text(each)], std::vector{2.0}; };
        evaluations_to(*make_search(name, setup), bowl(6), 1, 60);
        for (const auto& [configuration, count] : estimates) EXPECT_EQ(count, 1) << name << ' ' << configuration;
        for (const auto& [configuration, count] : features) EXPECT_EQ(count, 1) << name << ' ' << configuration;
    }
}

}  // namespace
}  // namespace smemtune
