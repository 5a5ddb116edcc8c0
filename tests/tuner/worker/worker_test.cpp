#include "tuner/worker/worker.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/tuner/support.h"
#include "tuner/worker/messages.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// Tries a correct transposition on the host device. The kernel's first thread begins with code that the test supplies.
class WorkerTest : public ::testing::Test {
protected:
    WorkerTest() { std::signal(SIGPIPE, SIG_IGN); }  // smemtune ignores SIGPIPE, too

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

    // Returns an expression that is true when it is first evaluated, in any process, and false ever after.
    [[nodiscard]] std::string first(const std::string& mark) const {
        return "mkdir(\"" + (scratch / mark) + "\", 0700) == 0";
    }
    TrialInput select(const std::string& mischief) { return select(mischief, worker); }
    TrialInput select(const std::string& mischief, Worker& selecting) const {
        std::string text = source;
        text.replace(text.find("MISCHIEF"), 8, mischief);
        const auto kernel = load_templates({{"made_up.cu", text}, {"made_up.toml", manifest}}).front();
        const Problem problem{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 9}, {"N", 17}}};
        const auto device = find_device("host").device;
        const auto compiler = make_compiler(device, {.host_compiler = SMEMTUNE_CXX});
        selecting.select(problem, kernel.files, compile_testbed(*compiler, kernel, problem));
        auto compiled = compiler->compile(program_of(kernel, {}, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) throw std::runtime_error(rejection->reason);
        return {std::get<Binary>(std::move(compiled)), launch_of(kernel, {}, problem, device)};
    }

    static bool is_measured(const TrialReport& report) { return std::holds_alternative<Measurement>(report.outcome); }

    // Returns the process ID of the worker, which is the only child of this process, or 0 if there is no worker.
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
    // The deadline of `worker` is so long that only a kernel that never ends exceeds it, even on a slow machine.
    Worker worker{{.executable = program(), .device = "host", .trial_deadline = 10min}};
    Worker impatient{{.executable = program(), .device = "host", .trial_deadline = 1s}};
};

// Prepares a transpose of a second size in advance, while the worker still uses the first size.
class WorkerAheadTest : public WorkerTest {
protected:
    void prepare_ahead(const Problem& problem) {
        const auto kernel = load_templates({{"made_up.cu", source}, {"made_up.toml", manifest}}).front();
        const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        worker.prepare_ahead(problem, kernel.files, compile_testbed(*compiler, kernel, problem), interrupted);
    }
    static Problem transpose(std::int64_t rows, std::int64_t columns) {
        return {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", rows}, {"N", columns}}};
    }
    // Limits the address space of a process to 4 GiB more than it uses now. This is too little for any allocation on
    // the host device, because each one takes two guard areas of 4 GiB.
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

TEST_F(WorkerAheadTest, PreparesOneProblemBesideAnother) {
    const auto input = select("");
    prepare_ahead(next);
    EXPECT_TRUE(worker.is_prepared(next));
    EXPECT_FALSE(worker.is_prepared(present)) << "not asked for yet";
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_TRUE(worker.is_prepared(next));
    EXPECT_TRUE(worker.is_prepared(present));
}

TEST_F(WorkerAheadTest, DropsOperandsThatAWrongKernelMayHaveWrittenTo) {
    const auto input = select("B[0] = 1e9f; return;");
    prepare_ahead(next);
    EXPECT_FALSE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_FALSE(worker.is_prepared(next));
    EXPECT_TRUE(worker.is_prepared(present));
}

TEST_F(WorkerAheadTest, AnEvictableProblemStaysWhileThereIsRoom) {
    const auto input = select("");
    worker.prepare(interrupted);
    worker.allow_eviction(present);
    prepare_ahead(next);
    EXPECT_TRUE(worker.is_prepared(next));
    EXPECT_TRUE(worker.is_prepared(present));
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
}

TEST_F(WorkerAheadTest, AnEvictableProblemMakesRoomBeforeTheOthers) {
    prepare_ahead(next);
    worker.allow_eviction(next);
    const auto other = transpose(7, 7);
    prepare_ahead(other);
    ASSERT_TRUE(worker.is_prepared(next));
    prepare_ahead(transpose(1LL << 20, 1LL << 20));
    EXPECT_FALSE(worker.is_prepared(next));
    EXPECT_TRUE(worker.is_prepared(other));
}

TEST_F(WorkerAheadTest, AnEvictableProblemThatIsSelectedAgainIsNoLongerEvictable) {
    prepare_ahead(present);
    worker.allow_eviction(present);
    prepare_ahead(next);
    (void)select("");
    worker.prepare(interrupted);
    prepare_ahead(transpose(1LL << 20, 1LL << 20));
    EXPECT_TRUE(worker.is_prepared(present));
}

TEST_F(WorkerAheadTest, DoesWithoutAProblemThatHasNoRoom) {
    const auto input = select("");
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    const auto process = worker_process();
    const auto huge = transpose(1LL << 20, 1LL << 20);
    prepare_ahead(huge);
    EXPECT_FALSE(worker.is_prepared(huge));
    EXPECT_TRUE(worker.is_prepared(present));
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_EQ(worker_process(), process) << "none was lost over it";
}

TEST_F(WorkerAheadTest, AnInterruptEndsAWorkerThatOnlyPrepares) {
    const auto input = select("");
    interrupted = true;
    prepare_ahead(next);
    EXPECT_FALSE(worker.is_prepared(next));
    EXPECT_EQ(worker_process(), 0);
    EXPECT_THROW(worker.prepare(interrupted), WorkerError);
    EXPECT_EQ(worker_process(), 0);
}

// Timing allocates its operands when it first needs them. Here, memory is short at that time, so the worker must free
// the problem that it prepared ahead.
TEST_F(WorkerAheadTest, MakesRoomForTheProblemInUse) {
    const auto input = select("");
    worker.prepare(interrupted);
    prepare_ahead(next);
    ASSERT_TRUE(worker.is_prepared(next));
    const auto process = worker_process();
    limit_address_space(process);
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_FALSE(worker.is_prepared(next));
    EXPECT_TRUE(worker.is_prepared(present));
    EXPECT_EQ(worker_process(), process);
}

TEST_F(WorkerAheadTest, AWorkspaceThatFitsNowhereIsTheCandidatesFault) {
    auto input = select("");
    prepare_ahead(next);
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    const auto process = worker_process();
    input.launch.workspace = {.bytes = std::int64_t{1} << 60, .place = 6};
    const auto report = worker.trial(input, std::nullopt);
    ASSERT_FALSE(is_measured(report));
    const auto& rejection = std::get<Rejection>(report.outcome);
    EXPECT_EQ(rejection.stage, Stage::launch);
    EXPECT_THAT(rejection.reason, HasSubstr("a workspace of 1152921504606846976 bytes: "));
    EXPECT_FALSE(worker.is_prepared(next)) << "it made room first";
    input.launch.workspace.reset();
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_EQ(worker_process(), process);
}

TEST_F(WorkerAheadTest, AWorkerThatDiesLosesItsPreparedProblems) {
    prepare_ahead(next);
    ASSERT_TRUE(worker.is_prepared(next));
    kill(worker_process(), SIGKILL);
    EXPECT_TRUE(is_measured(worker.trial(select(""), std::nullopt)));
    EXPECT_FALSE(worker.is_prepared(next));
}

TEST_F(WorkerTest, ATrialTellsWhatVerifyingAndTimingTook) {
    const auto report = worker.trial(select(""), std::nullopt);
    ASSERT_TRUE(is_measured(report));
    EXPECT_GT(report.verify_ms, 0);
    EXPECT_GT(report.time_ms, 0);
}

TEST_F(WorkerTest, AWorkerKilledDuringATrialCostsTheTrialNothing) {
    const auto input = select("if (" + first("killed") + ") __builtin_trap();");
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_TRUE(std::filesystem::exists(scratch / "killed"));
}

TEST_F(WorkerTest, ASecondDeathIsLaidToTheCandidateAndTheNextTrialMeetsANewWorker) {
    const auto input = select("if (" + first("killed") + " || " + first("again") + ") __builtin_trap();");
    const auto report = worker.trial(input, std::nullopt);
    ASSERT_FALSE(is_measured(report));
    const auto& rejection = std::get<Rejection>(report.outcome);
    EXPECT_EQ(rejection.stage, Stage::crash);
    EXPECT_THAT(rejection.reason, HasSubstr("the worker died: "));
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
}

TEST_F(WorkerTest, AnIdleWorkerThatIsKilledCostsTheNextTrialNothing) {
    const auto input = select("");
    ASSERT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    const auto process = worker_process();
    ASSERT_GT(process, 0);
    kill(process, SIGKILL);
    EXPECT_TRUE(is_measured(worker.trial(input, std::nullopt)));
    EXPECT_NE(worker_process(), process);
}

TEST_F(WorkerTest, ATrialThatRanPastItsDeadlineIsNotTriedAgain) {
    const auto input = select("endless = " + first("slow") + ";", impatient);
    const auto report = impatient.trial(input, std::nullopt);
    ASSERT_FALSE(is_measured(report)) << "a second time it would have ended";
    EXPECT_EQ(std::get<Rejection>(report.outcome).stage, Stage::timeout);
}

TEST_F(WorkerTest, ATrialThatTheBudgetStopsIsUnfinishedAndTheNextTrialMeetsANewWorker) {
    const auto input = select("endless = " + first("slow") + " || " + first("again") + ";");
    EXPECT_TRUE(worker.trial(input, std::nullopt, std::nullopt, std::nullopt, 1s).unfinished);
    EXPECT_TRUE(worker.verify(input, 1s).unfinished);
    const auto report = worker.trial(input, std::nullopt);
    EXPECT_TRUE(is_measured(report));
    EXPECT_FALSE(report.unfinished);
    const auto late =
        impatient.trial(select("endless = true;", impatient), std::nullopt, std::nullopt, std::nullopt, 1s);
    EXPECT_FALSE(late.unfinished) << "it ran as long as a trial may";
}

TEST(Worker, ATrialThatBeginsWithinTheBudgetHasTimeToFinish) {
    const auto now = std::chrono::steady_clock::now();
    EXPECT_EQ(budget_limit(now - 1h), 5s);
    EXPECT_EQ(budget_limit(now + 1s), 5s);
    EXPECT_GT(budget_limit(now + 1h), 59min);
    EXPECT_LE(budget_limit(now + 1h), 1h);
    EXPECT_GT(budget_limit(std::chrono::steady_clock::time_point::max()), 24h);
}

TEST_F(WorkerTest, AVerificationHasTheDeadlineOfATrialAndItsLosses) {
    const auto right = worker.verify(select(""));
    EXPECT_TRUE(is_measured(right) && right.verified);
    const auto late = impatient.verify(select("endless = " + first("slow") + ";", impatient));
    ASSERT_FALSE(is_measured(late));
    EXPECT_EQ(std::get<Rejection>(late.outcome).stage, Stage::timeout);
    const auto dead = worker.verify(select("__builtin_trap();"));
    ASSERT_FALSE(is_measured(dead));
    EXPECT_EQ(std::get<Rejection>(dead.outcome).stage, Stage::crash);
}

TEST_F(WorkerTest, AFinalRoundGoesOnInANewWorkerOnce) {
    const auto input = select("if (" + first("killed") + ") __builtin_trap();");
    const auto finals = worker.final_round({input, input}, 2);
    ASSERT_TRUE(finals.has_value());
    EXPECT_EQ(finals->size(), 2U);
    const auto always = select("__builtin_trap();");
    EXPECT_FALSE(worker.final_round({always}, 2).has_value());
    EXPECT_TRUE(worker.final_round({input}, 2).has_value()) << "the next one meets a new worker";
}

// Returns the message of the error that a worker's first trial throws.
std::string first_trial(const std::string& executable, const std::string& device) {
    Worker worker({.executable = executable, .device = device});
    worker.select(gemm(1, 1, 1), {}, {});
    try {
        (void)worker.trial({}, std::nullopt);
    } catch (const WorkerError& error) {
        return error.what();
    }
    return "an outcome";
}

TEST(Worker, AProgramThatIsNoWorkerIsAnErrorThatSaysHowItEnded) {
    EXPECT_EQ(first_trial("/bin/true", "host"),
              "the worker for device host ended with exit code 0 before it was ready");
    EXPECT_EQ(first_trial("/no/such/program", "host"),
              "the worker for device host ended with exit code 127 before it was ready");
}

TEST(Worker, AnUnknownDeviceIsAnErrorThatNamesIt) {
    EXPECT_NE(first_trial(program(), "nonsense").find("there is no device 'nonsense'"), std::string::npos);
}

// Uses a program in place of a worker. The program sends prepared bytes, whatever the request is, and records each
// start. At its first start, the program can send different bytes.
class FakeWorkerTest : public ::testing::Test {
protected:
    FakeWorkerTest() {
        std::signal(SIGPIPE, SIG_IGN);  // smemtune ignores SIGPIPE, too
        write_text(
            scratch / "worker",
            "#!/bin/sh\necho >> $0.starts\n"
            "if [ -e $0.first ] && mkdir $0.once 2>/dev/null; then cat $0.first >&4; else cat $0.answers >&4; fi\n"
            "exec cat <&3 >>$0.requests\n");
        std::filesystem::permissions(scratch / "worker", std::filesystem::perms::owner_all);
        worker.select(gemm(1, 1, 1), {}, {});
    }

    static std::string message(const Bytes& bytes) {
        const std::uint64_t size = bytes.size();
        return std::string(reinterpret_cast<const char*>(&size), sizeof size) + std::string(bytes.begin(), bytes.end());
    }
    template <class... Bodies>
    static std::string replies(const Bodies&... bodies) {
        return (message(encode(Reply{bodies})) + ...);
    }
    // Sets the bytes that the program sends after its ReadyReply.
    void answers(const std::string& bytes) { write_text(scratch / "worker.answers", replies(ReadyReply{}) + bytes); }
    void first_answers(const std::string& bytes) {
        write_text(scratch / "worker.first", replies(ReadyReply{}) + bytes);
    }
    // Returns the requests of type `Body` that the program has received.
    template <class Body>
    [[nodiscard]] std::vector<Body> received() const {
        std::vector<Body> found;
        const auto bytes = read_text(scratch / "worker.requests");
        std::uint64_t size = 0;
        for (std::size_t at = 0; at + sizeof size <= bytes.size(); at += size) {
            std::memcpy(&size, bytes.data() + at, sizeof size);
            at += sizeof size;
            if (size > bytes.size() - at) break;  // the rest will arrive later
            const auto request = decode_request({bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size)});
            const auto* body = std::get_if<Body>(&std::get<Request>(request));
            if (body != nullptr) found.push_back(*body);
        }
        return found;
    }
    [[nodiscard]] std::size_t starts() const { return read_text(scratch / "worker.starts").size(); }

    [[nodiscard]] Rejection rejection_of_a_trial() {
        return std::get<Rejection>(worker.trial({}, std::nullopt).outcome);
    }
    [[nodiscard]] std::string error_of_a_trial() {
        try {
            (void)worker.trial({}, std::nullopt);
        } catch (const WorkerError& error) {
            return error.what();
        }
        return "";
    }

    const Scratch scratch;
    const std::atomic<bool> interrupted = false;
    Worker worker{
        {.executable = scratch / "worker", .device = "fake", .trial_deadline = 10min, .prepare_deadline = 10min}};
    const TrialReport measured{Measurement{.median_us = 7}};
};

TEST_F(FakeWorkerTest, AnAnswerIsTakenAsItIs) {
    answers(replies(PrepareReply{}, TrialReply{measured}, FinalReply{{{.median_us = 8}}}));
    EXPECT_EQ(worker.trial({}, std::nullopt), measured);
    EXPECT_EQ(worker.final_round({{}}, 1)->front().median_us, 8);
    EXPECT_EQ(starts(), 1U);
}

TEST_F(FakeWorkerTest, AMalformedAnswerCostsTheWorkerAndTheTrialIsTriedOnceMore) {
    const auto cut = encode(Reply{TrialReply{measured}});
    for (const auto& malformed : {message({1, 2, 3}), message(Bytes(cut.begin(), cut.end() - 1)), message({}),
                                  replies(FinalReply{}), replies(PrepareReply{}), std::string(8, '\xff')}) {
        std::filesystem::remove_all(scratch / "worker.once");
        first_answers(replies(PrepareReply{}) + malformed);
        answers(replies(PrepareReply{}, TrialReply{measured}));
        EXPECT_EQ(worker.trial({}, std::nullopt), measured) << malformed;
        EXPECT_TRUE(std::filesystem::exists(scratch / "worker.once"));
        worker.release();
    }
}

TEST_F(FakeWorkerTest, ASecondMalformedAnswerIsLaidToTheCandidate) {
    answers(replies(PrepareReply{}) + message({1, 2, 3}));
    const auto rejection = rejection_of_a_trial();
    EXPECT_EQ(rejection.stage, Stage::crash);
    EXPECT_THAT(rejection.reason, HasSubstr("the worker sent a malformed answer: "));
    EXPECT_EQ(starts(), 2U);
    answers(replies(PrepareReply{}, TrialReply{measured}));
    EXPECT_EQ(worker.trial({}, std::nullopt), measured) << "the next trial meets a new worker";
}

TEST_F(FakeWorkerTest, AfterALossNoProblemIsPreparedUntilTheNextWorkerSaysSo) {
    const auto prepared = message(encode(Reply{PrepareReply{}, {gemm(1, 1, 1)}}));
    answers(prepared + message({1, 2, 3}));
    EXPECT_EQ(rejection_of_a_trial().stage, Stage::crash);
    EXPECT_FALSE(worker.is_prepared(gemm(1, 1, 1)));
    answers(prepared + message(encode(Reply{TrialReply{measured}, {gemm(1, 1, 1)}})));
    EXPECT_EQ(worker.trial({}, std::nullopt), measured);
    EXPECT_TRUE(worker.is_prepared(gemm(1, 1, 1)));
}

TEST_F(FakeWorkerTest, AFinalRoundWithOtherMeasurementsThanInputsIsLost) {
    answers(replies(PrepareReply{}, FinalReply{{{.median_us = 8}}}));
    EXPECT_FALSE(worker.final_round({{}, {}}, 1).has_value());
    EXPECT_TRUE(worker.final_round({{}}, 1).has_value()) << "the next round meets a new worker";
    EXPECT_EQ(starts(), 2U);
}

TEST_F(FakeWorkerTest, AFinalRoundCountsTheEnergyWhereItIsAskedTo) {
    const FinalReply measured_once{{{.median_us = 8}}};
    answers(replies(PrepareReply{}, measured_once, measured_once));
    EXPECT_TRUE(worker.final_round({{}}, 3));
    EXPECT_TRUE(worker.final_round({{}}, 1, true));
    ASSERT_TRUE(soon([&] { return received<FinalRequest>().size() == 2; }));
    const auto requests = received<FinalRequest>();
    EXPECT_EQ(requests[0].rounds, 3);
    EXPECT_FALSE(requests[0].policy.energy);
    EXPECT_EQ(requests[1].rounds, 1);
    EXPECT_TRUE(requests[1].policy.energy);
}

TEST_F(FakeWorkerTest, ATrialSendsBothBestTimes) {
    answers(replies(PrepareReply{}, TrialReply{measured}, TrialReply{measured}));
    (void)worker.trial({}, std::nullopt, 12.5);
    (void)worker.trial({}, 7.5, std::nullopt);
    ASSERT_TRUE(soon([&] { return received<TrialRequest>().size() == 2; }));
    const auto requests = received<TrialRequest>();
    EXPECT_EQ(requests[0].best_us, std::nullopt);
    EXPECT_EQ(requests[0].verified_best_us, 12.5);
    EXPECT_EQ(requests[1].best_us, 7.5);
    EXPECT_EQ(requests[1].verified_best_us, std::nullopt);
}

TEST_F(FakeWorkerTest, AMalformedGreetingMeansThatNoWorkerCanBeHad) {
    write_text(scratch / "worker.answers", message({1, 2, 3}));
    EXPECT_THAT(error_of_a_trial(), HasSubstr("the worker for device fake sent a malformed answer: "));
    EXPECT_THAT(error_of_a_trial(), HasSubstr("before it was ready"));
}

TEST_F(FakeWorkerTest, AProblemThatCannotBePreparedIsAnErrorWithItsReason) {
    answers(replies(FaultReply{"an illegal access"}));
    EXPECT_EQ(error_of_a_trial(), "an illegal access");
    EXPECT_EQ(starts(), 1U) << "a fault is not tried again";
    worker.release();
    answers(replies(ErrorReply{"out of memory"}));
    EXPECT_EQ(error_of_a_trial(), "out of memory");
    worker.release();
    answers(message({1, 2, 3}));
    EXPECT_THAT(error_of_a_trial(), HasSubstr("the worker could not prepare gemm f32 nn 1x1x1: it sent a malformed"));
    EXPECT_EQ(starts(), 4U) << "a malformed answer is";
}

TEST_F(FakeWorkerTest, APreparationThatTakesTooLongIsAnErrorWithARemedy) {
    answers("");
    Worker waiting{{.executable = scratch / "worker", .device = "fake", .prepare_deadline = 1s}};
    waiting.select(gemm(1, 1, 1), {}, {});
    const auto error = [&] {
        try {
            waiting.prepare(interrupted);
        } catch (const WorkerError& thrown) {
            return std::string(thrown.what());
        }
        return std::string();
    };
    EXPECT_EQ(error(),
              "gemm f32 nn 1x1x1 took longer than 1 s; make sure that this code ends, tune smaller sizes, or give a "
              "longer --deadline: ten times the deadline is allowed");
    EXPECT_EQ(starts(), 1U) << "it is not tried again";
    waiting.prepare_ahead(gemm(2, 2, 2), {}, {}, interrupted);
    EXPECT_EQ(starts(), 2U);
    waiting.select(gemm(2, 2, 2), {}, {});
    EXPECT_THAT(error(), HasSubstr("gemm f32 nn 2x2x2 took longer than 1 s; "));
    EXPECT_EQ(starts(), 2U) << "it was too slow when it was prepared ahead";
}

TEST(Worker, InputsAndReferencesMayTakeTenTimesAsLongAsATrial) {
    WorkerOptions options;
    Operation operation;
    set_deadlines(options, 30s, operation);
    EXPECT_EQ(options.trial_deadline, 30s);
    EXPECT_EQ(options.prepare_deadline, 300s);
    set_deadlines(options, 2s, operation);
    EXPECT_EQ(options.prepare_deadline, 20s);
    EXPECT_EQ(options.final_deadline, 300s) << "its kernels have ended before";
    operation.reference.kind = OperationReference::Kind::program;
    operation.reference.time_limit_s = 60;
    operation.checks.resize(2);
    set_deadlines(options, 2s, operation);
    EXPECT_EQ(options.prepare_deadline, 122s) << "a program has a time limit of its own";
    set_deadlines(options, 1h, operation);
    EXPECT_EQ(options.prepare_deadline, 10h);
    EXPECT_EQ(options.final_deadline, 10h);
}

TEST_F(FakeWorkerTest, AFaultIsTheCandidatesAndAnErrorIsNot) {
    answers(replies(PrepareReply{}, FaultReply{"an illegal access"}));
    EXPECT_EQ(rejection_of_a_trial(), (Rejection{Stage::crash, "an illegal access"}));
    EXPECT_FALSE(worker.final_round({{}}, 1).has_value());
    EXPECT_EQ(starts(), 2U);
    worker.release();
    answers(replies(PrepareReply{}, ErrorReply{"no memory"}));
    EXPECT_EQ(error_of_a_trial(), "no memory");
}

// A worker that is stopped, by SIGSTOP or a debugger, reads nothing. A request that fills the pipe must not block
// beyond the deadline.
TEST_F(FakeWorkerTest, AStoppedWorkerIsEndedAtTheDeadline) {
    write_text(scratch / "stopped", "#!/bin/sh\ncat $0.answers >&4\nkill -STOP $$\n");
    write_text(scratch / "stopped.answers", replies(ReadyReply{}, PrepareReply{}));
    std::filesystem::permissions(scratch / "stopped", std::filesystem::perms::owner_all);
    Worker stopped{{.executable = scratch / "stopped", .device = "fake", .trial_deadline = 300ms}};
    stopped.select(gemm(1, 1, 1), {}, {});
    TrialInput large;
    large.binary.code.resize(1'000'000);
    EXPECT_EQ(std::get<Rejection>(stopped.trial(large, std::nullopt).outcome).stage, Stage::timeout);
    EXPECT_EQ(std::get<Rejection>(stopped.trial({}, std::nullopt).outcome).stage, Stage::timeout) << "a new worker";
}

// The database refuses a measurement with a negative or infinite value. If the worker's answer with such a value were
// accepted, the database's error would end the run.
TEST_F(FakeWorkerTest, AMeasurementThatCannotBeIsAMalformedAnswer) {
    constexpr auto infinite = std::numeric_limits<double>::infinity();
    for (const auto& impossible :
         {Measurement{.median_us = -1}, Measurement{.median_us = infinite}, Measurement{.median_us = std::nan("")},
          Measurement{.median_us = 1, .spread_us = -1}, Measurement{.median_us = 1, .samples_us = {1, infinite}},
          Measurement{.median_us = 1, .clock_khz = -1}, Measurement{.median_us = 1, .energy_uj = -1}}) {
        answers(replies(PrepareReply{}, TrialReply{{impossible}}));
        EXPECT_THAT(rejection_of_a_trial().reason, HasSubstr("the worker sent a malformed answer: "))
            << impossible.median_us;
        worker.release();
    }
}

TEST_F(FakeWorkerTest, MachineCodeThatNoMessageHoldsCostsItsTrial) {
    answers(replies(PrepareReply{}, TrialReply{measured}));
    TrialInput large;
    large.binary.code.resize(longest_request + 1);
    EXPECT_THAT(std::get<Rejection>(worker.trial(large, std::nullopt).outcome).reason,
                HasSubstr("more than the 268435456"));
    EXPECT_EQ(worker.trial({}, std::nullopt), measured) << "the worker goes on";
    EXPECT_EQ(starts(), 1U);
}

TEST_F(FakeWorkerTest, TheProblemsThatItNamesArePrepared) {
    const std::vector prepared{gemm(1, 1, 1), gemm(2, 2, 2)};
    answers(message(encode(Reply{PrepareReply{}, prepared})) +
            message(encode(Reply{TrialReply{measured}, {prepared[0]}})));
    const std::atomic<bool> interrupted = false;
    worker.prepare(interrupted);
    EXPECT_TRUE(worker.is_prepared(gemm(2, 2, 2)));
    (void)worker.trial({}, std::nullopt);
    EXPECT_TRUE(worker.is_prepared(gemm(1, 1, 1)));
    EXPECT_FALSE(worker.is_prepared(gemm(2, 2, 2)));
}

}  // namespace
}  // namespace smemtune
