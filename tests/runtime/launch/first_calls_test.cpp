// Tests that the first launches of a problem run several kernels, and that later launches run the fastest of them.
#include <gmock/gmock.h>

#include <limits>

#include "runtime/host/host_backend.h"
#include "runtime/launch/first_calls.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// Tests with a database of three winners of problems near `unseen`. The winners have different configurations and
// stored machine code.
class FirstCallsTest : public testing::Test {
protected:
    FirstCallsTest() {
        Store store(database);
        const auto& templates = builtin_templates();
        const auto& kernel = find_template(templates, "tiled");
        std::int64_t m = 30;
        for (const auto* const values : {"TILE_WIDTH=8", "TILE_WIDTH=16", "TILE_WIDTH=32"}) {
            const auto configuration = parse_configuration(values);
            const auto near = gemm(m++, 32, 32);
            const auto code = must_compile(*host_compiler(), program_of(kernel, configuration, near));
            store_winner(store, host_device(), kernel, near, configuration, 10, &code);
        }
    }
    [[nodiscard]] Runtime::Options options(std::size_t candidates, double most_lost_ms = 1000) const {
        return {.database = database,
                .device = "host",
                .host_compiler = "/nowhere/c++",
                .measure_first_calls = {.candidates = candidates, .most_lost_ms = most_lost_ms}};
    }
    // Launches C += A * B with matrices of ones. C is wrong if the product was computed twice or not at all.
    static void launch(const Kernel& kernel) {
        const auto& extents = kernel.problem().extents;
        const auto size = static_cast<std::size_t>(extents[0].second * extents[1].second);
        const std::vector<float> ones(40 * 40, 1);
        std::vector<float> c(size, 5);
        kernel.launch(nullptr, {.a = ones.data(), .b = ones.data(), .c = c.data(), .beta = 1});
        ASSERT_EQ(c, std::vector<float>(size, 5 + static_cast<float>(extents[2].second)));
    }
    static std::string why_after(const Kernel& kernel, int launches) {
        for (int i = 0; i < launches; ++i) launch(kernel);
        return kernel.choice().why;
    }

    TemporaryFolder scratch;
    std::filesystem::path database = scratch / "tuning.db";
    const Problem tuned = gemm(32, 32, 32);
    const Problem unseen = gemm(33, 32, 31);
};

TEST_F(FirstCallsTest, ComputeWhatTheyWereAskedForAndThenTheFastestServes) {
    Runtime runtime(options(3));
    const auto kernel = runtime.fetch(unseen);
    const auto first = kernel.choice().configuration;
    EXPECT_EQ(kernel.choice().match, Match::nearest);
    EXPECT_EQ(why_after(kernel, 3), "") << "each of the three has run";
    EXPECT_EQ(kernel.choice().configuration, first);
    EXPECT_THAT(why_after(kernel, 1), HasSubstr("probably the fastest of 3 at the first calls, measured "));
    EXPECT_GT(kernel.choice().expected_us, 0);
    EXPECT_EQ(runtime.fetch(unseen).choice().why, kernel.choice().why) << "remembered";
    launch(kernel);
}

// Stores a winner of `problem` that is slow, because its kernel computes each sum 300 times.
void store_slow_winner(const std::filesystem::path& database, const Problem& problem) {
    auto sources = stepping_sources();
    auto& source = sources.at("stepping.cu");
    source.insert(source.find("    for (int k"),
                  "    for (volatile int turn = 0; turn < 300; turn = turn + 1) { sum = 0;\n");
    source.insert(source.find("    Element* c ="), "    }\n");
    sources["operation.toml"] = builtin_sources().at("gemm/operation.toml");
    sources["reference.cu"] = "";
    const auto slow = load_templates(sources).front();
    const auto configuration = parse_configuration("STEP=2");
    const auto code = must_compile(*host_compiler(), program_of(slow, configuration, problem));
    Store store(database);
    store_winner(store, host_device(), slow, problem, configuration, 10, &code);
}

TEST_F(FirstCallsTest, LeaveTheFirstChoiceForAFasterKernelAlone) {
    store_slow_winner(database, gemm(36, 32, 31));
    Runtime runtime(options(4));
    const auto beside_slow = runtime.fetch(gemm(38, 32, 31));
    EXPECT_EQ(beside_slow.choice().kernel_template, "stepping") << "the nearest";
    EXPECT_THAT(why_after(beside_slow, 5), HasSubstr("of 4 at"));
    EXPECT_EQ(beside_slow.choice().kernel_template, "tiled");
    const auto beside_fast = runtime.fetch(gemm(28, 32, 31));
    EXPECT_EQ(beside_fast.choice().kernel_template, "tiled");
    EXPECT_THAT(why_after(beside_fast, 5), HasSubstr("of 4 at"));
    EXPECT_EQ(beside_fast.choice().kernel_template, "tiled");
}

Choice predicted(double us, double uncertainty, Match match = Match::predicted) {
    Choice choice;
    choice.match = match;
    choice.expected_us = us;
    choice.uncertainty = uncertainty;
    return choice;
}

double difference(const Choice& first, double first_us, const Choice& rival, double rival_us) {
    return probable_difference_us({&first, first_us}, {&rival, rival_us});
}

TEST(ProbableDifference, FollowsThePredictionsOfShortKernels) {
    EXPECT_GT(difference(predicted(2, 0.1), 11, predicted(2.2, 0.1), 7), 0) << "4 us are in the noise";
}

TEST(ProbableDifference, FollowsTheMeasurementsOfLongKernels) {
    EXPECT_LT(difference(predicted(1500, 0.05), 1600, predicted(1520, 0.05), 1500), -80);
    EXPECT_GT(difference(predicted(1500, 0.05), 1600, predicted(1520, 0.05), 1610), 0);
}

TEST(ProbableDifference, FollowsAMeasurementThatRefutesThePrediction) {
    EXPECT_EQ(difference(predicted(172, 0.015), 275, predicted(200, 0.015), 206), -69);
    EXPECT_EQ(difference(predicted(20, 0.05), 66, predicted(25, 0.05), 31), -35);
    EXPECT_EQ(difference(predicted(0, 0.3), 400, predicted(25, 0.05), 31), -369);
}

TEST(ProbableDifference, OfKernelsWithoutPredictionsForThisDeviceIsMoreThanTheNoise) {
    for (const auto& known : {predicted(20, 0, Match::nearest), predicted(20, 0.1, Match::transferred)}) {
        EXPECT_EQ(difference(known, 20, known, 17), 0);
        EXPECT_EQ(difference(known, 20, known, 12), -8);
        EXPECT_EQ(difference(known, 2000, known, 1975), 0) << "the noise grows with the time";
        EXPECT_EQ(difference(known, 2000, known, 1965), -35);
    }
}

TEST(ProbablyFastest, IsTheFirstUnlessARivalIsProbablyFaster) {
    const auto choice = predicted(1000, 0.05);
    const auto fastest = [&](const std::vector<std::optional<double>>& times) {
        std::vector<TimedChoice> kernels;
        for (const auto& us : times) kernels.push_back({&choice, us});
        return probably_fastest(kernels);
    };
    EXPECT_EQ(fastest({1000, 1100, 1050}), 0U);
    EXPECT_EQ(fastest({1000, 900, 800}), 2U);
    EXPECT_EQ(fastest({1000, std::nullopt, 800}), 2U) << "the device refused the first rival";
    EXPECT_EQ(fastest({std::nullopt, 1000, 800}), 2U) << "the device refused the first kernel";
    EXPECT_EQ(fastest({std::nullopt, 1000, 1100}), 1U);
    EXPECT_EQ(fastest({std::nullopt, std::nullopt}), std::nullopt);
}

TEST(ProbablyFastest, IsNoKernelWithADamagedPrediction) {
    const auto right = predicted(1000, 0.05);
    const auto damaged = predicted(std::numeric_limits<double>::infinity(), 1e200);
    EXPECT_EQ(probably_fastest(std::vector<TimedChoice>{{&right, 1000}, {&damaged, 2000}}), 0U);
}

TEST_F(FirstCallsTest, AreNotMeasuredUnlessAsked) {
    for (const std::size_t candidates : {0U, 1U})
        EXPECT_EQ(why_after(Runtime(options(candidates)).fetch(unseen), 5), "");
}

TEST_F(FirstCallsTest, OfATunedProblemAreNotMeasured) {
    const auto kernel = Runtime(options(3)).fetch(tuned);
    EXPECT_EQ(kernel.choice().match, Match::exact);
    EXPECT_EQ(why_after(kernel, 5), "");
}

TEST_F(FirstCallsTest, AreNotMeasuredBeyondTheBudget) {
    EXPECT_EQ(why_after(Runtime(options(3, 0)).fetch(unseen), 5), "");
    Runtime runtime(options(3, 1e-6));
    EXPECT_NE(why_after(runtime.fetch(unseen), 5), "");
    EXPECT_EQ(why_after(runtime.fetch(gemm(34, 32, 31)), 5), "") << "the first problem has used it up";
}

TEST_F(FirstCallsTest, TimeNoMoreKernelsThanThereAre) {
    EXPECT_THAT(why_after(Runtime(options(100)).fetch(unseen), 4), HasSubstr("of 3 at"));
}

}  // namespace
}  // namespace smemtune
