// Tests trials on a simulated device. The test decides the times that the device measures.
#include "tuner/trial/trial.h"

#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/scripted.h"
#include "tests/tuner/support.h"
#include "tuner/trial/pruning_policy.h"

namespace smemtune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Tries kernels for 24x24x24 products: a right kernel, and kernels that use a constant in place of `alpha`.
class TrialTest : public ::testing::Test {
protected:
    static Binary compiled(const std::string& scale) {
        auto program = program_of(template_of("gemm"), default_configuration(template_of("gemm")), gemm(24, 24, 24));
        program.entry = "made_up";
        program.files[program.source_path] = R"(
#include "configuration.h"
extern "C" __global__ void made_up(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                   const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    Element sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    Element* c = C + row * ldc + column;
    *c = beta == 0 ? )" + scale +
                                             " * sum : " + scale + " * sum + beta * *c;\n}\n";
        const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        return std::get<Binary>(compiler->compile(program));
    }
    static const TrialInput& right() {
        static const TrialInput input{compiled("alpha"), {.grid = {3, 3, 1}, .block = {8, 8, 1}}};
        return input;
    }
    static const TrialInput& wrong() {
        static const TrialInput input{compiled("2"), {.grid = {3, 3, 1}, .block = {8, 8, 1}}};
        return input;
    }
    // Returns a kernel that uses 1 in place of alpha. It passes the first check, where alpha is 1.
    static const TrialInput& without_alpha() {
        static const TrialInput input{compiled("1"), {.grid = {3, 3, 1}, .block = {8, 8, 1}}};
        return input;
    }
    TrialReport report_of(const TrialInput& input, std::optional<double> best_us = std::nullopt,
                          std::optional<double> verified_best_us = std::nullopt) {
        backend.batches.clear();
        return try_candidate(backend, testbed, input, policy, best_us, verified_best_us);
    }
    static const Measurement& measured(const TrialReport& report) { return std::get<Measurement>(report.outcome); }
    static const Rejection& rejected(const TrialReport& report) { return std::get<Rejection>(report.outcome); }

    const std::size_t checks = template_of("gemm").operation.checks.size();
    SamplingPolicy policy{};
    Scripted backend;
    Testbed testbed = testbed_on(backend);
};

TEST_F(TrialTest, ARightKernelIsVerifiedAndThenTimedUntilItsSamplesAgree) {
    backend.launch_us = [](const BoundKernel*) { return 400.0; };
    backend.clock = [] { return 1'980'000; };
    const auto report = report_of(right());
    EXPECT_THAT(measured(report).samples_us, ElementsAre(400, 400, 400));
    EXPECT_EQ(measured(report).median_us, 400);
    EXPECT_EQ(measured(report).clock_khz, 1'980'000);
    EXPECT_EQ(measured(report).energy_uj, 0) << "nobody asked for it";
    EXPECT_FALSE(measured(report).cut_short);
    EXPECT_GT(report.verify_ms, 0);
    EXPECT_GT(report.time_ms, 0);
    EXPECT_EQ(backend.batches.size(), 1 + 1 + 3 + checks) << "the first check, a warm-up, samples and all checks";
}

TEST_F(TrialTest, AWrongKernelIsRejectedAndNotTimed) {
    const auto report = report_of(wrong());
    EXPECT_EQ(rejected(report).stage, Stage::wrong);
    EXPECT_THAT(rejected(report).reason, HasSubstr("C["));
    EXPECT_LE(backend.batches.size(), checks);
    EXPECT_EQ(report.time_ms, 0);
    EXPECT_TRUE(std::holds_alternative<Measurement>(report_of(right()).outcome)) << "and leaves the testbed as it was";
}

TEST_F(TrialTest, AKernelThatIsClearlySlowerOnTheFirstCheckGetsNoOther) {
    double first_us = 0;
    backend.launch_us = [&](const BoundKernel*) { return backend.batches.size() == 1 ? first_us : 1000; };
    first_us = pruning::surely_slow * 1000;
    const auto slower = report_of(right(), 1000);
    EXPECT_TRUE(measured(slower).cut_short);
    EXPECT_THAT(measured(slower).samples_us, ElementsAre(first_us));
    EXPECT_EQ(backend.batches.size(), 1U);
    EXPECT_EQ(slower.time_ms, 0);
    first_us = 1.1 * policy.behind * 1000 + 2000 - 1;  // just below the limit for a cold first launch
    const auto as_fast = report_of(right(), 1000);
    EXPECT_FALSE(measured(as_fast).cut_short);
    EXPECT_EQ(measured(as_fast).median_us, 1000);
    first_us = 1e9;
    EXPECT_FALSE(measured(report_of(right())).cut_short) << "without a best, none is clearly slower";
}

TEST_F(TrialTest, ASlowFirstLaunchThatMayBeColdIsRepeated) {
    const auto first_us = 1.1 * policy.behind * 1000 + 2000 + 1;
    double later_us = 1000;
    backend.launch_us = [&](const BoundKernel*) { return backend.batches.size() == 1 ? first_us : later_us; };
    const auto cold = report_of(right(), 1000);
    EXPECT_FALSE(measured(cold).cut_short);
    EXPECT_EQ(measured(cold).median_us, 1000);
    later_us = first_us - 0.5;
    const auto slow = report_of(right(), 1000);
    EXPECT_TRUE(measured(slow).cut_short);
    EXPECT_THAT(measured(slow).samples_us, ElementsAre(later_us));
    EXPECT_EQ(backend.batches.size(), 2U);
}

TEST_F(TrialTest, OnlyAKernelThatPassedEveryCheckIsVerified) {
    EXPECT_TRUE(report_of(right()).verified);
    EXPECT_FALSE(report_of(wrong()).verified);
    backend.launch_us = [](const BoundKernel*) { return 1e6; };
    const auto slower = report_of(right(), 100);
    EXPECT_TRUE(measured(slower).cut_short);
    EXPECT_FALSE(slower.verified) << "one check only";
    backend.launch_us = [](const BoundKernel*) { return 1000; };
    const auto sampled = report_of(right(), 100);
    EXPECT_TRUE(measured(sampled).cut_short);
    EXPECT_FALSE(sampled.verified) << "its time is not known";
}

TEST_F(TrialTest, OnlyTheBestOfATemplateSoFarRunsTheOtherChecks) {
    const auto report_at = [&](double us, double verified_best_us) {
        backend.launch_us = [us](const BoundKernel*) { return us; };
        return report_of(right(), 1000, verified_best_us);
    };
    EXPECT_TRUE(report_at(990, 1000).verified);
    const auto all = backend.batches.size();
    const auto behind = report_at(1010, 1000);
    EXPECT_FALSE(behind.verified);
    EXPECT_FALSE(measured(behind).cut_short) << "its time is known";
    EXPECT_EQ(backend.batches.size(), all - checks);
    policy.energy = true;
    EXPECT_TRUE(report_at(1060, 1000).verified) << "a slower kernel may need less energy";
}

TEST_F(TrialTest, AFastKernelThatFailsALaterCheckIsWrong) {
    const auto report = report_of(without_alpha());
    EXPECT_EQ(rejected(report).stage, Stage::wrong);
    EXPECT_FALSE(report.verified);
    EXPECT_GT(report.time_ms, 0) << "it was timed before";
}

// With a cache of 16 KiB, several sets of operands rotate. Each set has its own inputs and references.
TEST_F(TrialTest, AVerificationComparesEachSetWithItsOwnReferenceWhereverTheRotationStands) {
    Scripted cached(1 << 14);
    Testbed rotating = testbed_on(cached);
    ASSERT_TRUE(rotating.rotates());
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(try_candidate(cached, rotating, right(), policy, std::nullopt).verified);
        const auto report = verify_candidate(cached, rotating, right(), policy);
        EXPECT_TRUE(report.verified) << i << ": " << (report.verified ? "" : rejected(report).reason);
    }
}

TEST_F(TrialTest, AVerificationRunsAllChecksAndABatchAndComparesWhatItLeft) {
    const auto verified = [&](const TrialInput& input) {
        backend.batches.clear();
        return verify_candidate(backend, testbed, input, policy);
    };
    const auto report = verified(right());
    EXPECT_TRUE(report.verified);
    EXPECT_EQ(measured(report).median_us, 1);
    EXPECT_GT(report.verify_ms, 0);
    EXPECT_EQ(backend.batches.size(), checks + 2);
    EXPECT_FALSE(verified(wrong()).verified);
    EXPECT_EQ(rejected(verified(wrong())).stage, Stage::wrong);
    // The kernel passes all checks. In the last batch, each launch leaves a wrong element in the output.
    backend.after = [&](const Backend::Call& call) {
        if (backend.batches.size() == checks + 1) **static_cast<float**>(call.arguments.at(9)) += 1;
    };
    const auto spoiled = verified(right());
    EXPECT_FALSE(spoiled.verified);
    EXPECT_THAT(rejected(spoiled).reason, HasSubstr("C[0,0] is "));
    EXPECT_THAT(rejected(spoiled).reason, HasSubstr("after a batch of launches"));
    backend.after = [&](const Backend::Call& call) {
        if (backend.batches.size() == checks + 1) **static_cast<float**>(call.arguments.at(4)) += 1;
    };
    EXPECT_THAT(rejected(verified(right())).reason, HasSubstr("writes to its input A"));
}

// The kernel is right in the first check, and wrong whenever it gets the operands of this check again.
TEST_F(TrialTest, AKernelThatIsWrongOnceItWasTimedIsRejected) {
    void* first = nullptr;
    int launches = 0;
    backend.after = [&](const Backend::Call& call) {
        auto* const output = *static_cast<float**>(call.arguments.at(9));
        if (launches++ == 0) first = output;
        if (launches > 1 && output == first) *output += 1;
    };
    EXPECT_EQ(rejected(report_of(right())).stage, Stage::wrong);
}

TEST_F(TrialTest, AVerificationFindsAKernelThatIsWrongAfterAHundredLaunches) {
    int launches = 0;
    backend.launch_us = [](const BoundKernel*) { return 400.0; };
    backend.after = [&](const Backend::Call& call) {
        if (++launches > 100) **static_cast<float**>(call.arguments.at(9)) += 1;
    };
    EXPECT_FALSE(verify_candidate(backend, testbed, right(), policy).verified);
}

TEST_F(TrialTest, AnOutputThatAnEarlierLaunchLeftIsNotTakenForThatOfALaterOne) {
    const ConfiguredKernel kernel(backend.load(right().binary, 0), right().launch);
    const Idle writes_nothing;
    EXPECT_FALSE(testbed.verify(kernel).wrong);
    EXPECT_TRUE(testbed.verify(writes_nothing).wrong);
    EXPECT_FALSE(testbed.verify_batch(kernel, 3).wrong);
    EXPECT_TRUE(testbed.verify_batch(writes_nothing, 3).wrong);
}

TEST_F(TrialTest, AfterAKernelThatSpoiledItsInputsTheNextOneGetsNewOnes) {
    for (const auto batch : {std::size_t{0}, checks + 1}) {
        backend.batches.clear();
        backend.after = [&](const Backend::Call& call) {
            if (backend.batches.size() == batch) **static_cast<float**>(call.arguments.at(4)) += 1;
        };
        EXPECT_FALSE(verify_candidate(backend, testbed, right(), policy).verified) << batch;
        backend.after = [](const Backend::Call&) {};
        EXPECT_TRUE(verify_candidate(backend, testbed, right(), policy).verified) << batch;
    }
}

// The operands of 24x24x24 take 7 KB. With a cache of 9000 bytes, three sets of operands rotate.
TEST(VerifyCandidate, ComparesTheOutputsOfEveryRotatingSet) {
    Scripted backend(9000);
    auto testbed = testbed_on(backend);
    ASSERT_TRUE(testbed.rotates());
    const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    const auto& kernel = template_of("gemm");
    const auto configuration = default_configuration(kernel);
    const auto problem = gemm(24, 24, 24);
    const auto compiled = std::get<Binary>(compiler->compile(program_of(kernel, configuration, problem)));
    const auto input = trial_input(kernel, configuration, problem, backend.device(), compiled);
    EXPECT_TRUE(verify_candidate(backend, testbed, input, {}).verified);
    for (const bool first_set : {true, false}) {
        void* first = nullptr;
        backend.batches.clear();
        backend.after = [&](const Backend::Call& call) {
            if (backend.batches.size() < kernel.operation.checks.size()) return;
            auto* const output = *static_cast<float**>(call.arguments.at(9));
            if (first == nullptr) first = output;
            if ((output == first) == first_set) output[1] += 1;
        };
        EXPECT_FALSE(verify_candidate(backend, testbed, input, {}).verified) << first_set;
    }
}

TEST_F(TrialTest, ALaunchThatTheDeviceRefusesIsARejection) {
    auto input = right();
    input.launch.block = {4096, 1, 1};
    const auto report = report_of(input);
    EXPECT_EQ(rejected(report).stage, Stage::launch);
    EXPECT_THAT(rejected(report).reason, HasSubstr("threads per block"));
    input = right();
    input.binary.code = {1, 2, 3};
    EXPECT_EQ(rejected(report_of(input)).stage, Stage::launch);
}

TEST_F(TrialTest, AWorkspaceWithoutMemoryIsAnErrorOfItsOwn) {
    auto input = right();
    input.launch.workspace = {.bytes = std::int64_t{1} << 60, .place = 11};
    EXPECT_THROW((void)report_of(input), NoRoomForWorkspace) << "others may give up theirs";
}

TEST_F(TrialTest, AKernelThatIsClearlySlowerThanTheBestIsTimedOnlyTwice) {
    const Idle idle;
    backend.launch_us = [](const BoundKernel*) { return 130.0; };
    const auto slower = time_kernel(backend, testbed, idle, policy, 100);
    EXPECT_TRUE(slower.cut_short);
    EXPECT_EQ(slower.samples_us.size(), 2U);
    EXPECT_EQ(time_kernel(backend, testbed, idle, policy, 40).samples_us.size(), 1U) << "more than three times as long";
    EXPECT_FALSE(time_kernel(backend, testbed, idle, policy, 110).cut_short);
}

TEST_F(TrialTest, ALaunchThatTakesFarLongerThanABatchNeedsNoWarmUp) {
    const Idle idle;
    backend.launch_us = [](const BoundKernel*) { return 50'000.0; };
    (void)time_kernel(backend, testbed, idle, policy, std::nullopt, 10 * policy.batch_us);
    EXPECT_EQ(backend.batches.size(), 3U);
    backend.batches.clear();
    (void)time_kernel(backend, testbed, idle, policy, std::nullopt, 10 * policy.batch_us - 1);
    EXPECT_EQ(backend.batches.size(), 4U);
    backend.batches.clear();
    (void)time_kernel(backend, testbed, idle, policy);
    EXPECT_EQ(backend.batches.size(), 4U) << "nothing is known of its launches";
}

TEST_F(TrialTest, EnergyIsMeasuredWhereItIsAskedForAndNotOfWhatIsCutShort) {
    const Idle idle;
    backend.launch_us = [](const BoundKernel*) { return 130.0; };
    backend.launch_uj = [](const BoundKernel*) { return 7.0; };
    EXPECT_EQ(time_kernel(backend, testbed, idle, {.energy = true}).energy_uj, 7);
    EXPECT_EQ(time_kernel(backend, testbed, idle, {.energy = true}, 100).energy_uj, 0);
    EXPECT_EQ(time_kernel(backend, testbed, idle, {}).energy_uj, 0);
}

TEST_F(TrialTest, FinalistsAreTimedInTurn) {
    const BoundKernel* first = nullptr;
    backend.launch_us = [&](const BoundKernel* kernel) {
        if (backend.batches.size() == 3) first = kernel;  // the first batch after a warm-up of each kernel
        return kernel == first ? 100.0 : 200.0;
    };
    const auto measured = play_final(backend, testbed, {right(), right()}, policy, 3);
    ASSERT_EQ(measured.size(), 2U);
    EXPECT_THAT(measured[0].samples_us, ElementsAre(100, 100, 100));
    EXPECT_THAT(measured[1].samples_us, ElementsAre(200, 200, 200));
    const auto* second = backend.batches.at(3);
    EXPECT_NE(first, second);
    backend.batches.erase(backend.batches.begin(), backend.batches.begin() + 2);
    EXPECT_THAT(backend.batches, ElementsAre(first, second, first, second, first, second));
}

}  // namespace
}  // namespace smemtune
