#include "tuner/trial/sampling.h"

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

// Feeds durations of one launch until the policy has enough. Returns the number of durations.
int feed(Sampling& sampling, const std::function<double(int)>& launch_us, double batch_us = 2000) {
    int count = 0;
    while (!sampling.finished()) {
        EXPECT_LT(count, 1000) << "sampling must end";
        sampling.add(launch_us(count++), batch_us);
    }
    return count;
}

TEST(Sampling, StopsAtTheLeastSamplesWhenTheyAgree) {
    Sampling sampling(SamplingPolicy{});
    EXPECT_EQ(feed(sampling, [](int) { return 100.0; }), SamplingPolicy{}.least_samples);
    EXPECT_DOUBLE_EQ(sampling.result().median_us, 100);
    EXPECT_DOUBLE_EQ(sampling.result().spread_us, 0);
    EXPECT_FALSE(sampling.result().cut_short);
}

TEST(Sampling, GoesOnWhileSamplesDisagreeButNotForEver) {
    Sampling sampling(SamplingPolicy{});
    EXPECT_EQ(feed(sampling, [](int i) { return i % 2 == 0 ? 100.0 : 150.0; }), SamplingPolicy{}.most_samples);
    EXPECT_GT(sampling.result().spread_us, 0);
    EXPECT_EQ(sampling.result().samples_us.size(), 9U);
}

TEST(Sampling, OneOutlierAmongSteadySamplesDoesNotMoveTheMedian) {
    Sampling sampling(SamplingPolicy{});
    feed(sampling, [](int i) { return i == 1 ? 900.0 : 100.0; });
    EXPECT_DOUBLE_EQ(sampling.result().median_us, 100);
}

TEST(Sampling, IsNotFinishedBeforeItBegins) {
    EXPECT_FALSE(Sampling(SamplingPolicy{}).finished());
    EXPECT_FALSE(Sampling({}, 100).finished());
}

TEST(Sampling, StopsAfterOneSampleThatIsClearlyBehind) {
    Sampling sampling({}, 100);
    EXPECT_EQ(feed(sampling, [](int) { return 126.0; }), 1);
    EXPECT_TRUE(sampling.result().cut_short);
}

TEST(Sampling, OneSlowSampleOfAFastCandidateIsNotClearlyBehind) {
    Sampling sampling({}, 100);
    const auto count = feed(sampling, [](int i) { return i == 1 ? 500.0 : 90.0; });
    EXPECT_GE(count, SamplingPolicy{}.least_samples);
    EXPECT_FALSE(sampling.result().cut_short) << "the fastest sample decides, not the latest";
}

TEST(Sampling, NearlyAsFastAsTheBestIsSampledInFull) {
    Sampling sampling({}, 100);
    EXPECT_EQ(feed(sampling, [](int) { return 124.0; }), SamplingPolicy{}.least_samples);
    EXPECT_FALSE(sampling.result().cut_short);
}

TEST(Sampling, LongBatchesStopAtTheLeastHoweverTheyDisagree) {
    Sampling sampling(SamplingPolicy{});
    EXPECT_EQ(feed(
                  sampling, [](int i) { return 1e6 * (1 + i); }, 1e6),
              SamplingPolicy{}.least_samples);
}

TEST(Sampling, ShortLaunchesInLongBatchesStopAtTheLeastToo) {
    Sampling sampling(SamplingPolicy{.longest_us = 10'000});
    EXPECT_EQ(feed(
                  sampling, [](int i) { return 1.0 + i; }, 4000),
              SamplingPolicy{}.least_samples)
        << "the time that batches took counts, not that of a launch";
}

TEST(Sampling, ABatchIsAsLongAsThePolicySays) {
    const Sampling sampling(SamplingPolicy{});
    EXPECT_EQ(sampling.launches(100), 20);
    EXPECT_EQ(sampling.launches(1900), 2) << "rounded up";
    EXPECT_EQ(sampling.launches(1e9), 1) << "at least one";
    EXPECT_EQ(sampling.launches(1), 200) << "at most as many as the policy allows";
    EXPECT_EQ(sampling.launches(0), 200) << "a clock too coarse to see a launch";
}

TEST(Sampling, KeepsEverySampleInItsOrder) {
    Sampling sampling(SamplingPolicy{});
    for (const auto us : {3.0, 1.0, 2.0}) sampling.add(us, us);
    EXPECT_EQ(sampling.result().samples_us, (std::vector<double>{3, 1, 2}));
    EXPECT_DOUBLE_EQ(sampling.result().median_us, 2);
    EXPECT_DOUBLE_EQ(sampling.result().spread_us, 0.5) << "quartiles 1.5 and 2.5";
}

}  // namespace
}  // namespace smemtune
