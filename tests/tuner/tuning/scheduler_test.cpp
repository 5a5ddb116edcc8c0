// Tests runs with several workers, some of which are lost. Workers are real processes on the host device. To lose a
// worker, a test starts a program in its place that ends or fails too early.
#include "tuner/tuning/scheduler.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>

#include "runtime/backend.h"
#include "tests/tuner/support.h"
#include "tuner/report/progress.h"
#include "tuner/trial/testbed.h"
#include "tuner/tuning/tune.h"
#include "tuner/worker/messages.h"

namespace smemtune {
namespace {

class SchedulerTest : public ::testing::Test {
protected:
    TuneReport tune_with(const std::vector<std::string>& executables) {
        std::vector<std::unique_ptr<Worker>> workers;
        TuneResources resources{device_, *compiler_, store_, {}, sampling_, interrupted_};
        for (const auto& executable : executables) {
            workers.push_back(std::make_unique<Worker>(WorkerOptions{.executable = executable, .device = "host"}));
            resources.workers.push_back(workers.back().get());
        }
        request_.jobs = 2;
        Progress progress(stderr, Progress::Style::silent, {});
        return tune(request_, plan(request_, device_), resources, progress);
    }

    static constexpr const char* lost = "/bin/false";
    Scratch scratch_;
    Device device_ = find_device("host").device;
    std::unique_ptr<Compiler> compiler_ = make_compiler(device_, {.host_compiler = SMEMTUNE_CXX});
    Store store_{scratch_ / "t.db"};
    SamplingPolicy sampling_;
    std::atomic<bool> interrupted_ = false;
    TuneRequest request_{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}},
                     {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 32}, {"N", 32}}}},
        .templates = load_templates(read_sources(fixture("work"))),
        .search = "exhaustive"};
};

TEST_F(SchedulerTest, TheLossOfTheOnlyWorkerEndsTheRun) { EXPECT_THROW(tune_with({lost}), WorkerError); }

TEST_F(SchedulerTest, TheLossOfAllWorkersEndsTheRun) { EXPECT_THROW(tune_with({lost, lost}), WorkerError); }

TEST_F(SchedulerTest, ARunGoesOnWithoutALostWorker) {
    const auto report = tune_with({lost, program()});
    EXPECT_EQ(report.measured, 18U);
    EXPECT_EQ(report.rejected.size(), 0U);
    EXPECT_EQ(report.ended, "complete");
    ASSERT_EQ(report.workers.size(), 2U);
    EXPECT_EQ(report.workers[0].trials, 0);
    EXPECT_GT(report.workers[1].trials, 0);
    EXPECT_EQ(winners_in(scratch_ / "t.db").size(), 2U);
}

TEST_F(SchedulerTest, ASpentBudgetBeginsNoTrial) {
    request_.budget = std::chrono::seconds(0);
    const auto report = tune_with({program()});
    EXPECT_EQ(report.ended, "budget");
    EXPECT_EQ(report.measured, 0U);
}

// The nine trials of the first problem take at least 18 s together. Without a limit for each problem, the first problem
// would use up the whole budget, even with two workers.
TEST_F(SchedulerTest, NoProblemUsesTheBudgetOfTheOthers) {
    auto sources = read_sources(fixture("work"));
    auto& text = sources.at("work.cu");
    text.insert(text.find("extern"), "#include <unistd.h>\n");
    text.insert(text.find("    const int column"),
                "    if (M == 16 && threadIdx.x + threadIdx.y == 0) usleep(200000);\n");
    request_.templates = load_templates(sources);
    request_.budget = std::chrono::seconds(8);
    for (const std::size_t workers : {1, 2}) {
        std::filesystem::remove(scratch_ / "t.db");
        store_ = Store(scratch_ / "t.db");
        const auto report = tune_with(std::vector<std::string>(workers, program()));
        EXPECT_EQ(report.ended, "budget");
        ASSERT_EQ(report.problems.size(), 2U) << workers;
        EXPECT_EQ(report.problems[0].ended, "budget");
        EXPECT_TRUE(report.problems[0].best.has_value()) << workers;
        EXPECT_TRUE(report.problems[1].best.has_value()) << workers;
    }
}

// One of the nine values of WORK breaks a constraint of the manifest. Another one breaks a limit of the device.
TEST_F(SchedulerTest, AReportCountsWhatWasPlannedAndWhatTheDevicesLimitsRemoved) {
    auto& kernel = request_.templates.front();
    kernel.constraints.push_back({Expression("WORK != 12"), "one less"});
    kernel.block[0] = Expression("WORK == 48 ? 2048 : 16");
    request_.search = "local";
    request_.budget = std::chrono::seconds(0);
    EXPECT_EQ(tune_with({program()}).planned, 2U * 7U);
    request_.evaluations = 3;
    const auto report = tune_with({program()});
    EXPECT_EQ(report.planned, 2U * 3U);
    EXPECT_EQ(report.left_out, (std::map<std::string, std::uint64_t>{{"work: threads per block", 2}}));
}

TEST_F(SchedulerTest, AnInterruptedRunBeginsNoTrial) {
    interrupted_ = true;
    const auto report = tune_with({program(), program()});
    EXPECT_EQ(report.ended, "interrupted");
    EXPECT_EQ(trials_in(scratch_ / "t.db"), 0);
}

// The first worker fails while it has a task. The second worker starts only after the first has ended.
TEST_F(SchedulerTest, TheTaskOfALostWorkerIsDoneByAnother) {
    const auto alive = scratch_ / "alive";
    ASSERT_EQ(mkfifo(alive.c_str(), 0600), 0);
    std::string answers;
    for (const auto& reply : {Reply{ReadyReply{}}, Reply{PrepareReply{}}, Reply{ErrorReply{"the device is gone"}}}) {
        const auto bytes = encode(reply);
        const std::uint64_t size = bytes.size();
        answers.append(reinterpret_cast<const char*>(&size), sizeof size).append(bytes.begin(), bytes.end());
    }
    write_text(scratch_ / "failing.answers", answers);
    const auto script = [&](const std::string& name, const std::string& text) {
        write_text(scratch_ / name, "#!/bin/sh\n" + text);
        std::filesystem::permissions(scratch_ / name, std::filesystem::perms::owner_all);
        return scratch_ / name;
    };
    const auto failing = script("failing", "exec 9>" + alive + "\ncat $0.answers >&4\nexec cat <&3 >/dev/null\n");
    const auto second = script("second", "cat " + alive + "\nexec " + program() + " \"$@\"\n");
    request_.problems.pop_back();
    const auto report = tune_with({failing, second});
    EXPECT_EQ(report.workers[0].trials, 0);
    EXPECT_EQ(report.measured, 9U);
    EXPECT_EQ(report.rejected.size(), 0U);
    EXPECT_EQ(report.ended, "complete");
    EXPECT_EQ(winners_in(scratch_ / "t.db"), (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
}

// Runs a kernel that waits until the test has interrupted the run, and then ends its worker.
class InterruptedTest : public SchedulerTest {
protected:
    InterruptedTest() {
        for (const auto& name : {begun_, go_}) {
            if (mkfifo(name.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + name);
        }
        request_.problems.pop_back();
        const auto source = R"(
#include "configuration.h"
extern "C" int system(const char*);
extern "C" void _exit(int);
extern "C" __global__ void ending(int M, int N, const Element* A, long long lda, Element* B, long long ldb) {
    system("echo >)" + begun_ +
                            "; read ignored <" + go_ + R"(");
    _exit(1);
}
)";
        request_.templates = load_templates({{"ending.cu", source}, {"ending.toml", R"toml(
[template]
name = "ending"
operation = "transpose"
types = ["f32"]
[launch]
block = ["1"]
grid = ["1"]
[requires]
host = true
)toml"}});
    }

    // Interrupts a tuning run during a launch of the kernel, and returns the report of the tuning run.
    TuneReport tune_interrupted() {
        const int begun = open(begun_.c_str(), O_RDWR | O_CLOEXEC);
        const int go = open(go_.c_str(), O_RDWR | O_CLOEXEC);
        bool launched = false;
        std::optional<TuneReport> report;
        {
            const std::jthread interrupting([&] {
                pollfd waiting{begun, POLLIN, 0};
                launched = poll(&waiting, 1, 60'000) == 1;
                interrupted_ = true;
                if (write(go, "\n", 1) != 1) launched = false;
            });
            report = tune_with({program()});
        }
        EXPECT_TRUE(launched);
        close(begun);
        close(go);
        return *report;
    }

    const std::string begun_ = scratch_ / "begun";
    const std::string go_ = scratch_ / "go";
};

TEST_F(InterruptedTest, ACrashAfterAnInterruptIsNotTheCandidatesFault) {
    const auto report = tune_interrupted();
    EXPECT_EQ(report.ended, "interrupted");
    EXPECT_EQ(report.rejected.size(), 0U);
    EXPECT_EQ(trials_in(scratch_ / "t.db"), 0);
}

TEST_F(InterruptedTest, ACrashAfterAnInterruptIsNotTheFinalistsFault) {
    const auto& kernel = request_.templates.front();
    const auto& problem = request_.problems.front();
    const TrialKey key{.device = store_.remember(device_),
                       .kernel_template = store_.remember(
                           TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                       .problem = store_.remember(problem)};
    store_.remember(TrialRecord{.key = key,
                                .outcome = Measurement{.median_us = 7, .samples_us = {7}},
                                .verified_by = verification_identity(kernel, problem, *compiler_)});
    const auto report = tune_interrupted();
    EXPECT_EQ(report.ended, "interrupted");
    const auto stored = store_.recall(key, {});
    ASSERT_TRUE(stored);
    EXPECT_TRUE(std::holds_alternative<Measurement>(stored->outcome));
}

}  // namespace
}  // namespace smemtune
