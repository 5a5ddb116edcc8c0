// Several workers, and lost workers: real processes on the host device, and one that ends before it is ready.
#include "tuner/tuning/scheduler.h"

#include <gmock/gmock.h>

#include "runtime/backend.h"
#include "tests/tuner/support.h"
#include "tuner/report/progress.h"
#include "tuner/tuning/tune.h"

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

TEST_F(SchedulerTest, AnInterruptedRunBeginsNoTrial) {
    interrupted_ = true;
    const auto report = tune_with({program(), program()});
    EXPECT_EQ(report.ended, "interrupted");
    EXPECT_EQ(trials_in(scratch_ / "t.db"), 0);
}

}  // namespace
}  // namespace smemtune
