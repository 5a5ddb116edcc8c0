// Tests runs with several workers. In these tests, all workers use the host device. With GPUs, each GPU has one worker.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support/held_run.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> tune_work(const std::string& devices, const std::string& sizes) {
    return {"tune", "--device", devices, "--templates", fixture("work"), "--sizes",
            sizes,  "--jobs",   "2",     "--db",        "t.db",          "--json"};
}

std::vector<pid_t> workers_of(const Running& running) {
    std::vector<pid_t> workers;
    for (const auto process : running.descendants()) {
        const auto words = read_process(process, "cmdline");
        if (words.find(std::string("\0worker\0", 8)) != std::string::npos) workers.push_back(process);
    }
    return workers;
}

TEST(Devices, EqualOnesShareTheTrialsOfARun) {
    const Scratch scratch;
    Running running(scratch, tune_work("host,host", "16,32,48"));
    EXPECT_TRUE(soon([&] { return workers_of(running).size() == 2 || running.ended(); }));
    const auto finished = running.wait();
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto report = json::parse(finished.out);
    EXPECT_EQ(report.at("workers").size(), 2U);
    EXPECT_EQ(report.at("measured"), 27);
    EXPECT_EQ(trials_in(scratch / "t.db"), 27);
    for (const auto& winner : winners_in(scratch / "t.db")) EXPECT_THAT(winner, ::testing::EndsWith("WORK=1"));
}

class LostDevice : public HeldRun {
protected:
    [[nodiscard]] std::vector<std::string> tune(int held_at) const {
        auto words = tune_work("host,host", "16,32,48,64");
        std::ranges::replace(words, fixture("work"), held("work", "M == " + std::to_string(held_at)));
        words.insert(words.end(), {"--deadline", "10m"});
        return words;
    }
    void expect_complete(Running& running) const {
        const auto finished = running.wait();
        ASSERT_EQ(finished.code, 0) << finished.err;
        const auto report = json::parse(finished.out);
        EXPECT_EQ(report.at("measured"), 36);
        EXPECT_TRUE(report.at("rejected").empty()) << report.at("reasons");
        for (const auto& winner : winners_in(scratch_ / "t.db")) EXPECT_THAT(winner, ::testing::EndsWith("WORK=1"));
    }
};

TEST_F(LostDevice, AWorkerThatIsKilledCostsNothingButTime) {
    Running running(scratch_, tune(64));
    ASSERT_TRUE(soon([&] { return trials() >= 2; }));
    const auto workers = workers_of(running);
    ASSERT_FALSE(workers.empty());
    kill(workers.front(), SIGKILL);
    release();
    expect_complete(running);
}

// Workers prepare problems while the first programs compile. The test kills a worker as soon as it exists.
TEST_F(LostDevice, AWorkerThatIsKilledWhileItPreparesCostsNothing) {
    Running running(scratch_, tune(16));
    std::vector<pid_t> workers;
    ASSERT_TRUE(soon([&] { return !(workers = workers_of(running)).empty(); }));
    kill(workers.front(), SIGKILL);
    release();
    expect_complete(running);
}

TEST(Devices, SeveralFindTheWinnersThatOneFinds) {
    const Scratch one;
    const Scratch several;
    ASSERT_EQ(run(one, tune_work("host", "16,32,48")).code, 0);
    const auto finished = run(several, tune_work("host,host", "16,32,48"));
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(winners_in(several / "t.db"), winners_in(one / "t.db"));
    EXPECT_EQ(trials_in(several / "t.db"), trials_in(one / "t.db"));
}

TEST(Devices, SeveralTransferTheWinnersBetweenSizes) {
    const Scratch scratch;
    auto words = tune_work("host,host", "16,20,24,32");
    std::ranges::replace(words, fixture("work"), fixture("hidden"));
    words.insert(words.end(), {"--search", "local", "--patience", "4"});
    const auto first = run(scratch, words);
    ASSERT_EQ(first.code, 0) << first.err;
    const auto report = json::parse(first.out);
    EXPECT_EQ(report.at("measured"), trials_in(scratch / "t.db"));
    const auto winners = winners_in(scratch / "t.db");
    EXPECT_EQ(winners.size(), 4U);
    for (const auto& winner : winners) EXPECT_THAT(winner, ::testing::EndsWith("SHADE=77,WORK=1"));
    const auto second = run(scratch, words);
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(json::parse(second.out).at("measured"), 0);
}

TEST(Devices, TheReportSaysWhereEachWorkersTimeWent) {
    const Scratch scratch;
    const auto finished = run(scratch, tune_work("host,host", "16,32"));
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto report = json::parse(finished.out);
    ASSERT_EQ(report.at("workers").size(), 2);
    std::map<std::string, double> sums;
    for (const auto& worker : report.at("workers")) {
        double sum = 0;
        for (const auto* part : {"start", "prepare", "trials", "finals", "compiler", "idle"}) {
            const auto seconds = worker.at(std::string(part) + "_seconds").get<double>();
            sums[part] += seconds;
            sum += seconds;
        }
        EXPECT_GT(worker.at("start_seconds"), 0);
        EXPECT_LE(sum, report.at("seconds").get<double>()) << "no second counts twice";
    }
    // Every run prepares a problem, waits for the compiler and makes trials, so none of these times is 0.
    for (const auto* part : {"prepare", "compiler", "trials"}) EXPECT_GT(sums[part], 0) << part;
}

TEST(Devices, AllMeansEveryGpuAndSaysSoWhereThereIsNone) {
    const Scratch scratch;
    const auto finished = run(scratch, tune_work("all", "16"), {{"CUDA_VISIBLE_DEVICES", ""}});
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr("--device all means every GPU, and there is none; there is: host"));
}

}  // namespace
}  // namespace smemtune
