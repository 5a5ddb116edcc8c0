#include "tuner/bench/bench.h"

#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "tests/tuner/scripted.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Refusing : public Idle {
public:
    void launch(StreamHandle, std::span<void* const>) const override { throw LaunchError("too large for it"); }
};

TEST(Compare, TakesBatchesInTurnAndChangesWhoIsFirst) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Idle ours;
    const Idle theirs;
    backend.launch_us = [&](const BoundKernel* kernel) { return kernel == &ours ? 100 : 150; };
    const auto ratio = compare(backend, testbed, ours, theirs, {.least = 6, .most = 6});
    EXPECT_DOUBLE_EQ(ratio.median, 1.5);
    EXPECT_EQ(ratio.pairs, 6U);
    constexpr std::size_t warm_up = 4;
    ASSERT_EQ(backend.batches.size(), warm_up + 12);
    const auto* a = static_cast<const BoundKernel*>(&ours);
    const auto* b = static_cast<const BoundKernel*>(&theirs);
    backend.batches.erase(backend.batches.begin(), backend.batches.begin() + warm_up);
    EXPECT_THAT(backend.batches, ElementsAre(a, b, b, a, a, b, b, a, a, b, b, a));
}

TEST(Compare, APairIsAsSlowAsTheLowerOfItsClocks) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Idle ours;
    const Idle theirs;
    int readings = 0;
    backend.clock = [&] { return ++readings % 8 == 3 ? 1'700'000 : 1'980'000; };  // a low clock in every fourth pair
    const auto ratio = compare(backend, testbed, ours, theirs, {.least = 30, .most = 30});
    EXPECT_EQ(ratio.pairs, 30U);
    EXPECT_EQ(ratio.dropped, 10U);
    EXPECT_EQ(ratio.clock_khz, 1'980'000);
}

TEST(Compare, EndsAfterThePairInHandWhenItIsInterrupted) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Idle ours;
    const Idle theirs;
    constexpr std::size_t warm_up = 4;
    const auto ratio =
        compare(backend, testbed, ours, theirs, {}, [&] { return backend.batches.size() >= warm_up + 2 * 8; });
    EXPECT_EQ(ratio.pairs, 8U);
}

TEST(Cache, ColdBatchesRotateOverTheirOperandsAndWarmOnesDoNot) {
    // The L2 cache has 10,000 bytes. Three sets of operands, 6,912 bytes each, exceed twice the cache.
    Scripted backend(10'000);
    auto testbed = testbed_on(backend);
    const Idle kernel;
    const auto sets = [&] {
        std::set<void*> addresses;
        for (const auto& call : testbed.batch(kernel, 12)) addresses.insert(call.arguments.at(4));
        return addresses.size();
    };
    EXPECT_TRUE(testbed.rotates());
    EXPECT_EQ(sets(), 3U);
    testbed.set_cache(Cache::warm);
    EXPECT_EQ(sets(), 1U);
    testbed.set_cache(Cache::cold);
    EXPECT_EQ(sets(), 3U);
}

TEST(Cache, OperandsThatAreNeverInItDoNotRotate) {
    Scripted backend(3'000);
    auto testbed = testbed_on(backend);
    EXPECT_FALSE(testbed.rotates());
}

TEST(HostTimes, AreOfShortBurstsInTurnWithTheQueueEmptyBeforeEach) {
    std::string log;
    const auto times = host_times(
        {[&] { log += 'a'; }, [&] { log += 'b'; }}, [&] { log += '|'; }, 5'000);
    ASSERT_EQ(times.size(), 2U);
    EXPECT_THAT(log, AllOf(StartsWith("|aaaa|bbbb|aaaa|bbbb|"), ::testing::EndsWith("|bbbb|")));
    EXPECT_EQ(std::ranges::count(log, 'a'), std::ranges::count(log, 'b'));
}

TEST(HostTimes, ABurstHoldsFiftyCallsAtMostAndOneAtLeast) {
    std::string log;
    const auto wait = [&] { log += '|'; };
    (void)host_times({[&] { log += 'a'; }}, wait, 0.5);
    EXPECT_THAT(log, StartsWith("|" + std::string(50, 'a') + "|"));
    log.clear();
    (void)host_times({[&] { log += 'a'; }}, wait, 1e6);
    EXPECT_THAT(log, StartsWith("|a|a|"));
}

// A competitor. The test supplies its kernel, or the reason why it has none.
class Someone : public Competitor {
public:
    explicit Someone(CompetitorKernelOrReason prepared) : prepared_(std::move(prepared)) {}
    [[nodiscard]] std::string name() const override { return "someone"; }
    [[nodiscard]] std::string version() const override { return "1"; }
    [[nodiscard]] CompetitorKernelOrReason prepare(const Operation&, const Problem&, Testbed&) override {
        return prepared_;
    }

private:
    CompetitorKernelOrReason prepared_;
};

// Uses a database in which a run of smemtune has stored a winner for 24x24x24.
class BenchTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        scratch = std::make_unique<Scratch>();
        const auto tuned = run(*scratch, {"--device", "host", "--sizes", "24", "--templates", "naive", "--evaluations",
                                          "2", "--db", *scratch / "a.db"});
        ASSERT_EQ(tuned.code, 0) << tuned.err;
    }
    static void TearDownTestSuite() { scratch.reset(); }

    ProblemBench play(std::unique_ptr<Competitor> competitor, const Problem& problem = gemm(24, 24, 24)) {
        BenchRequest request{.any_template = template_of("gemm"), .problems = {problem}};
        request.pairs = {.least = 6, .most = 6};
        return play(request, std::move(competitor)).at(0);
    }
    std::vector<ProblemBench> play(const BenchRequest& request, std::unique_ptr<Competitor> competitor) {
        std::vector<std::unique_ptr<Competitor>> competitors;
        if (competitor != nullptr) competitors.push_back(std::move(competitor));
        std::vector<ProblemBench> results;
        bench(request, runtime, competitors, [&](ProblemBench result) { results.push_back(std::move(result)); });
        return results;
    }
    Comparison comparison(std::unique_ptr<Competitor> competitor) {
        return play(std::move(competitor)).caches.at(0).comparisons.at(0);
    }
    static std::unique_ptr<Competitor> someone(std::shared_ptr<const BoundKernel> kernel) {
        return std::make_unique<Someone>(CompetitorKernel{.description = {"a kernel"}, .kernel = std::move(kernel)});
    }

    static inline std::unique_ptr<Scratch> scratch;
    Runtime runtime{{.database = *scratch / "a.db", .device = "host", .host_compiler = SMEMTUNE_CXX}};
};

TEST_F(BenchTest, OursIsTheStoredWinnerAndIsTimedWithNobodyToCompareWith) {
    const auto result = play(nullptr);
    EXPECT_TRUE(result.stored);
    EXPECT_EQ(result.kernel.name, "naive");
    EXPECT_TRUE(result.kernel.configuration->values.contains("BLOCK_X"));
    EXPECT_EQ(result.operations, 2.0 * 24 * 24 * 24);
    ASSERT_EQ(result.caches.size(), 1U) << "warm is no different without an L2 cache";
    EXPECT_GT(result.caches[0].ours.median_us, 0);
    EXPECT_TRUE(result.host.empty());
}

TEST_F(BenchTest, TheWinnerOfAnotherSizeIsNone) {
    const auto result = play(nullptr, gemm(25, 25, 25));
    EXPECT_FALSE(result.stored);
    EXPECT_TRUE(result.caches.empty());
}

TEST_F(BenchTest, AnotherDatabaseIsComparedOnTheSameDevice) {
    const auto result = comparison(database_competitor(runtime, *scratch / "a.db"));
    EXPECT_EQ(result.why_not, "");
    EXPECT_EQ(result.kernel.name, "naive");
    EXPECT_EQ(result.ratio.pairs, 6U);
    EXPECT_GT(result.ratio.low, 0);
    EXPECT_LE(result.ratio.low, result.ratio.median);
    EXPECT_LE(result.ratio.median, result.ratio.high);
}

TEST_F(BenchTest, ACompetitorThatComputesSomethingElseIsNotTimedAndIsWrong) {
    const auto result = comparison(someone(std::make_shared<Idle>()));
    EXPECT_TRUE(result.wrong);
    EXPECT_THAT(result.why_not, HasSubstr("C[0,0] is nan"));
    EXPECT_EQ(result.ratio.pairs, 0U);
}

TEST_F(BenchTest, ACompetitorThatTheDeviceRefusesIsMissingAndNotWrong) {
    const auto result = comparison(someone(std::make_shared<Refusing>()));
    EXPECT_FALSE(result.wrong);
    EXPECT_EQ(result.why_not, "too large for it");
}

// A competitor that runs out of memory at the first problem.
class Large : public Someone {
public:
    using Someone::Someone;
    [[nodiscard]] CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                   Testbed& testbed) override {
        if (std::exchange(first_, false)) throw DeviceError("out of memory");
        return Someone::prepare(operation, problem, testbed);
    }

private:
    bool first_ = true;
};

TEST_F(BenchTest, AProblemThatTheDeviceHasNoMemoryForLeavesTheOthersAlone) {
    const BenchRequest request{.any_template = template_of("gemm"), .problems = {gemm(24, 24, 24), gemm(24, 24, 24)}};
    const auto results = play(request, std::make_unique<Large>(Unavailable{"it computes nothing"}));
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].why_not, "out of memory");
    ASSERT_EQ(results[0].caches.size(), 1U) << "ours was timed before";
    EXPECT_GT(results[0].caches[0].ours.median_us, 0);
    EXPECT_EQ(results[1].why_not, "");
    EXPECT_EQ(results[1].caches.at(0).comparisons.size(), 1U);
}

TEST_F(BenchTest, AnInterruptionKeepsWhatWasMeasuredAndGivesNoIntervalOfTooFewPairs) {
    const auto winner = std::get<CompetitorKernel>(stored_winner(runtime, gemm(24, 24, 24), ""));
    BenchRequest request{.any_template = template_of("gemm"), .problems = {gemm(24, 24, 24), gemm(24, 24, 24)}};
    int asked = 0;
    request.interrupted = [&] {
        return ++asked > 6;
    };  // calls 1 to 3 come before the first pair; each later call comes after one more pair
    const auto results = play(request, someone(winner.kernel));
    ASSERT_EQ(results.size(), 1U);
    EXPECT_GT(results[0].caches.at(0).ours.median_us, 0);
    EXPECT_EQ(results[0].caches.at(0).comparisons.at(0).why_not, "interrupted");
}

TEST_F(BenchTest, ACompetitorThatHasNothingSaysWhy) {
    const auto result = comparison(std::make_unique<Someone>(Unavailable{"it only computes transpositions"}));
    EXPECT_FALSE(result.wrong);
    EXPECT_EQ(result.why_not, "it only computes transpositions");
}

}  // namespace
}  // namespace smemtune
