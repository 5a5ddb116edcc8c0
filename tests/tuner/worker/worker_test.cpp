#include "tuner/worker/worker.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// A right copy of a matrix on the host device, whose first thread does first what a test wants of it.
class WorkerTest : public ::testing::Test {
protected:
    WorkerTest() { std::signal(SIGPIPE, SIG_IGN); }  // as the program does

    static constexpr const char* source = R"(
#include "configuration.h"
extern "C" int mkdir(const char*, unsigned);
extern "C" __global__ void made_up(int M, int N, const Element* A, long long lda, Element* B, long long ldb) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row == 0 && column == 0) {
        volatile bool endless = false;
        MISCHIEF
        while (endless) {
        }
    }
    if (row < M && column < N) B[column * ldb + row] = A[row * lda + column];
}
)";
    static constexpr const char* manifest = R"toml(
[template]
name = "made_up"
operation = "transpose"
types = ["f32"]
[launch]
block = ["8", "8"]
grid = ["ceil_div(N, 8)", "ceil_div(M, 8)"]
[requires]
host = true
)toml";

    // True for the first that asks, in whatever process.
    [[nodiscard]] std::string first(const std::string& mark) const {
        return "mkdir(\"" + (scratch / mark) + "\", 0700) == 0";
    }
    TrialInput prepare(const std::string& mischief) {
        std::string text = source;
        text.replace(text.find("MISCHIEF"), 8, mischief);
        const auto kernel = load_templates({{"made_up.cu", text}, {"made_up.toml", manifest}}).front();
        const Problem problem{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 9}, {"N", 17}}};
        const auto device = find_device("host").device;
        const auto compiler = make_compiler(device, {.host_compiler = SMEMTUNE_CXX});
        worker.prepare(problem, kernel.files, compile_testbed(*compiler, kernel, problem));
        auto compiled = compiler->compile(program_of(kernel, {}, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) throw std::runtime_error(rejection->reason);
        return {std::get<Binary>(std::move(compiled)), launch_of(kernel, {}, problem, device)};
    }

    static bool is_measured(const TrialReport& report) { return std::holds_alternative<Measurement>(report.outcome); }

    // The one that this process has started.
    static pid_t worker_process() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto name = entry.path().filename().string();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            const auto status = read_process(std::stoi(name), "status");
            if (status.find("\nPPid:\t" + std::to_string(getpid()) + "\n") != std::string::npos) return std::stoi(name);
        }
        return 0;
    }

    const Scratch scratch;
    Worker worker{{.executable = program(), .device = "host", .trial_deadline = 2s}};
};

// The transposition of another size, laid out beside the one that is in use.
class WorkerAheadTest : public WorkerTest {
protected:
    void lay_out_ahead(const Problem& problem) {
        const auto kernel = load_templates({{"made_up.cu", source}, {"made_up.toml", manifest}}).front();
        const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        worker.lay_out_ahead(problem, kernel.files, compile_testbed(*compiler, kernel, problem), interrupted);
    }
    static Problem transpose(std::int64_t rows, std::int64_t columns) {
        return {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", rows}, {"N", columns}}};
    }
    // To little more than it has: each allocation on the host device takes twice as much, most of it to guard it.
    static void limit_address_space(pid_t process) {
        const auto status = read_process(process, "status");
        const auto bytes = std::stoull(status.substr(status.find("VmSize:") + 7)) * 1024 + (4ULL << 30);
        const rlimit limit{bytes, bytes};
        ASSERT_EQ(prlimit(process, RLIMIT_AS, &limit, nullptr), 0);
    }
    const Problem present = transpose(9, 17);
    const Problem next = transpose(5, 3);
    std::atomic<bool> interrupted = false;
};

TEST_F(WorkerAheadTest, LaysOutOneProblemBesideAnother) {
    const auto input = prepare("");
    lay_out_ahead(next);
    EXPECT_TRUE(worker.has(next));
    EXPECT_FALSE(worker.has(present)) << "not asked for yet";
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_TRUE(worker.has(next));
    EXPECT_TRUE(worker.has(present));
}

TEST_F(WorkerAheadTest, DropsWhatAWrongKernelMayHaveWrittenTo) {
    const auto input = prepare("B[0] = 1e9f; return;");
    lay_out_ahead(next);
    EXPECT_FALSE(is_measured(worker.trial(input, 0)));
    EXPECT_FALSE(worker.has(next));
    EXPECT_TRUE(worker.has(present));
}

TEST_F(WorkerAheadTest, AForgottenProblemStaysWhileThereIsRoom) {
    const auto input = prepare("");
    worker.lay_out(interrupted);
    worker.forget(present);
    lay_out_ahead(next);
    EXPECT_TRUE(worker.has(next));
    EXPECT_TRUE(worker.has(present));
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
}

TEST_F(WorkerAheadTest, AForgottenProblemMakesRoomBeforeTheOthers) {
    lay_out_ahead(next);
    worker.forget(next);
    const auto other = transpose(7, 7);
    lay_out_ahead(other);
    ASSERT_TRUE(worker.has(next));
    lay_out_ahead(transpose(1LL << 20, 1LL << 20));
    EXPECT_FALSE(worker.has(next));
    EXPECT_TRUE(worker.has(other));
}

TEST_F(WorkerAheadTest, AForgottenProblemThatIsUsedAgainIsNoLongerForgotten) {
    lay_out_ahead(present);
    worker.forget(present);
    lay_out_ahead(next);
    (void)prepare("");
    worker.lay_out(interrupted);
    lay_out_ahead(transpose(1LL << 20, 1LL << 20));
    EXPECT_TRUE(worker.has(present));
}

TEST_F(WorkerAheadTest, DoesWithoutAProblemThatHasNoRoom) {
    const auto input = prepare("");
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    const auto process = worker_process();
    const auto huge = transpose(1LL << 20, 1LL << 20);
    lay_out_ahead(huge);
    EXPECT_FALSE(worker.has(huge));
    EXPECT_TRUE(worker.has(present));
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_EQ(worker_process(), process) << "none was lost over it";
}

TEST_F(WorkerAheadTest, AnInterruptEndsAWorkerThatOnlyLaysOut) {
    const auto input = prepare("");
    interrupted = true;
    lay_out_ahead(next);
    EXPECT_FALSE(worker.has(next));
    EXPECT_EQ(worker_process(), 0);
    EXPECT_THROW(worker.lay_out(interrupted), WorkerError);
    EXPECT_EQ(worker_process(), 0);
}

// The operands that are timed are laid out when they are first needed: here, when there is no memory any more.
TEST_F(WorkerAheadTest, MakesRoomForTheProblemInUse) {
    const auto input = prepare("");
    worker.lay_out(interrupted);
    lay_out_ahead(next);
    ASSERT_TRUE(worker.has(next));
    const auto process = worker_process();
    limit_address_space(process);
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_FALSE(worker.has(next));
    EXPECT_TRUE(worker.has(present));
    EXPECT_EQ(worker_process(), process);
}

TEST_F(WorkerAheadTest, AWorkspaceThatFitsNowhereIsTheCandidatesFault) {
    auto input = prepare("");
    lay_out_ahead(next);
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    const auto process = worker_process();
    input.launch.workspace = {.bytes = std::int64_t{1} << 60, .place = 6};
    const auto report = worker.trial(input, 0);
    ASSERT_FALSE(is_measured(report));
    const auto& rejection = std::get<Rejection>(report.outcome);
    EXPECT_EQ(rejection.stage, Stage::launch);
    EXPECT_THAT(rejection.reason, HasSubstr("a workspace of 1152921504606846976 bytes: "));
    EXPECT_FALSE(worker.has(next)) << "it made room first";
    input.launch.workspace.reset();
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_EQ(worker_process(), process);
}

TEST_F(WorkerAheadTest, AWorkerThatDiesTakesItsLayoutsAlong) {
    lay_out_ahead(next);
    ASSERT_TRUE(worker.has(next));
    kill(worker_process(), SIGKILL);
    EXPECT_TRUE(is_measured(worker.trial(prepare(""), 0)));
    EXPECT_FALSE(worker.has(next));
}

TEST_F(WorkerTest, ATrialTellsWhatVerifyingAndTimingTook) {
    const auto report = worker.trial(prepare(""), 0);
    ASSERT_TRUE(is_measured(report));
    EXPECT_GT(report.verify_ms, 0);
    EXPECT_GT(report.time_ms, 0);
}

TEST_F(WorkerTest, AWorkerKilledDuringATrialCostsTheTrialNothing) {
    const auto input = prepare("if (" + first("killed") + ") __builtin_trap();");
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_TRUE(std::filesystem::exists(scratch / "killed"));
}

TEST_F(WorkerTest, ASecondDeathIsLaidToTheCandidateAndTheNextTrialMeetsANewWorker) {
    const auto input = prepare("if (" + first("killed") + " || " + first("again") + ") __builtin_trap();");
    const auto report = worker.trial(input, 0);
    ASSERT_FALSE(is_measured(report));
    const auto& rejection = std::get<Rejection>(report.outcome);
    EXPECT_EQ(rejection.stage, Stage::crash);
    EXPECT_THAT(rejection.reason, HasSubstr("the worker died: "));
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
}

TEST_F(WorkerTest, AnIdleWorkerThatIsKilledCostsTheNextTrialNothing) {
    const auto input = prepare("");
    ASSERT_TRUE(is_measured(worker.trial(input, 0)));
    const auto process = worker_process();
    ASSERT_GT(process, 0);
    kill(process, SIGKILL);
    EXPECT_TRUE(is_measured(worker.trial(input, 0)));
    EXPECT_NE(worker_process(), process);
}

TEST_F(WorkerTest, ATrialThatRanPastItsDeadlineIsNotTriedAgain) {
    const auto report = worker.trial(prepare("endless = " + first("slow") + ";"), 0);
    ASSERT_FALSE(is_measured(report)) << "a second time it would have ended";
    EXPECT_EQ(std::get<Rejection>(report.outcome).stage, Stage::timeout);
}

TEST_F(WorkerTest, AFinalRoundGoesOnInANewWorkerOnce) {
    const auto input = prepare("if (" + first("killed") + ") __builtin_trap();");
    const auto finals = worker.final_round({input, input}, 2);
    ASSERT_TRUE(finals.has_value());
    EXPECT_EQ(finals->size(), 2U);
    const auto always = prepare("__builtin_trap();");
    EXPECT_FALSE(worker.final_round({always}, 2).has_value());
    EXPECT_TRUE(worker.final_round({input}, 2).has_value()) << "the next one meets a new worker";
}

}  // namespace
}  // namespace smemtune
