#include "tuner/trial/sampling.h"

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

// Adds durations of one launch until the policy needs no more. Returns the number of added durations.
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

TEST(Sampling, StopsAfterTwoSamplesThatAreClearlyBehind) {
    Sampling sampling({}, 100);
    EXPECT_EQ(feed(sampling, [](int) { return 126.0; }), 2);
    EXPECT_TRUE(sampling.result().cut_short);
}

TEST(Sampling, StopsAfterOneSampleThatIsFarBehind) {
    Sampling sampling({}, 100);
    EXPECT_EQ(feed(sampling, [](int) { return 301.0; }), 1);
    EXPECT_TRUE(sampling.result().cut_short);
}

TEST(Sampling, ADisturbedFirstSampleDoesNotCutAFastCandidateShort) {
    Sampling sampling({}, 100);
    EXPECT_GE(feed(sampling, [](int i) { return i == 0 ? 230.0 : 90.0; }), SamplingPolicy{}.least_samples);
    EXPECT_FALSE(sampling.result().cut_short);
    EXPECT_EQ(sampling.result().median_us, 90);
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
        << "the limit applies to the time of all batches, not to the time of a launch";
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

TEST(Sampling, TheBordersOfItsPolicyBelongToIt) {
    Sampling level({}, 100);
    for (int i = 0; i < 2; ++i) level.add(125, 2000);  // exactly 1.25 times the best, the limit
    EXPECT_FALSE(level.finished());
    EXPECT_FALSE(level.result().cut_short);
    Sampling behind({}, 100);
    for (int i = 0; i < 2; ++i) behind.add(125.001, 2000);
    EXPECT_TRUE(behind.finished());
    Sampling single({}, 100);
    single.add(300, 2000);  // exactly 3 times the best
    EXPECT_FALSE(single.finished());

    // Half the interquartile range of 99, 100, 101 is 0.5, which is 0.005 of the median: the limit of `steady_spread`.
    for (const auto& [half_width, finished] : {std::pair{1.0, true}, {1.01, false}}) {
        Sampling steady(SamplingPolicy{});
        for (const double us : {100 - half_width, 100.0, 100 + half_width}) steady.add(us, 1);
        EXPECT_EQ(steady.finished(), finished) << half_width;
    }
    for (const auto& [batch_us, finished] : {std::pair{1000.0, false}, {1000.1, true}}) {
        Sampling longest(SamplingPolicy{.longest_us = 3000});
        for (const double us : {1.0, 2.0, 3.0}) longest.add(us, batch_us);
        EXPECT_EQ(longest.finished(), finished) << batch_us;
    }
    Sampling most(SamplingPolicy{.least_samples = 1, .most_samples = 2, .steady_spread = -1});
    most.add(1, 1);
    EXPECT_FALSE(most.finished());
    most.add(1, 1);
    EXPECT_TRUE(most.finished());
}

TEST(Sampling, ABatchHasAtLeastTheWantedTime) {
    const Sampling sampling(SamplingPolicy{.batch_us = 1000, .most_launches = 50});
    for (const auto& [launch_us, launches] :
         {std::pair{1000.0, 1}, {999.0, 2}, {500.0, 2}, {499.0, 3}, {20.0, 50}, {19.0, 50}, {21.0, 48}}) {
        EXPECT_EQ(sampling.launches(launch_us), launches) << launch_us;
    }
    const Sampling many(SamplingPolicy{.batch_us = 1000, .most_launches = 1'000'000});
    for (const auto& [launch_us, launches] : {std::pair{0.0, 10'000}, {0.05, 10'000}, {0.1, 10'000}, {0.2, 5000}}) {
        EXPECT_EQ(many.launches(launch_us), launches) << "no launch takes less than a tenth of a microsecond";
    }
}

TEST(Sampling, AMeasurementOfSamplesIsTheirMedianAndHalfTheInterquartileRange) {
    const auto measured = measurement_of({8, 1, 4, 2, 16});
    EXPECT_EQ(measured.median_us, 4);
    EXPECT_EQ(measured.spread_us, 3) << "quartiles 2 and 8";
    EXPECT_EQ(measured.samples_us, (std::vector<double>{8, 1, 4, 2, 16}));
    EXPECT_FALSE(measured.cut_short);
    EXPECT_EQ(measured.clock_khz, 0);
}

}  // namespace
}  // namespace smemtune
