// Runs that are killed or interrupted, and runs at the same time.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/tuner/support.h"
#include "util/process.h"

namespace smemtune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> tune_work(const std::string& sizes) {
    return {"tune", "--device", "host", "--templates", fixture("work"), "--sizes",
            sizes,  "--jobs",   "2",    "--db",        "t.db"};
}

std::vector<std::string> tune_endless(const std::string& deadline) {
    return {"tune", "--device", "host",       "--templates", fixture("endless"), "--sizes", "16",
            "--db", "t.db",     "--deadline", deadline};
}

// The processor time of a process in clock ticks; -1 if it has ended.
long ticks_of(pid_t process) {
    std::istringstream fields(read_process(process, "stat"));
    std::string field;
    long ticks = -1;
    for (int i = 1; fields >> field && i <= 15; ++i) {
        if (i == 14) ticks = std::stol(field);
        if (i == 15) ticks += std::stol(field);
    }
    return ticks;
}

// Whether a worker has used more processor time since `before` ticks than any preparation takes. It is then inside the
// endless kernel.
bool is_inside_a_kernel(const Running& running, long before = 0) {
    return std::ranges::any_of(running.descendants(), [&](pid_t process) {
        return read_process(process, "cmdline").find("worker") != std::string::npos &&
               ticks_of(process) > before + sysconf(_SC_CLK_TCK) / 3;
    });
}

// The largest ticks_of() among the run's processes.
long most_ticks(const Running& running) {
    long most = 0;
    for (const auto process : running.descendants()) most = std::max(most, ticks_of(process));
    return most;
}

TEST(Kill, AtAnyMomentLosesAtMostTheTrialInFlight) {
    const Scratch undisturbed;
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run(undisturbed, tune_work("16,32")).code, 0);
    const auto whole = duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    constexpr int most_kills = 16;  // spread over the duration of a whole run
    const auto expected = winners_in(undisturbed / "t.db");
    ASSERT_EQ(expected,
              (std::vector<std::string>{"transpose f32 16x16 work WORK=1", "transpose f32 32x32 work WORK=1"}));

    int kills = 0;
    int finished_runs = 0;
    std::int64_t most_trials = 0;
    while (kills < most_kills) {
        const Scratch scratch;
        const auto db = scratch / "t.db";
        std::int64_t stored = 0;
        // Kills the run again and again until it completes. After `most_kills` kills in all, a run may end undisturbed.
        for (bool through = false; !through;) {
            Running running(scratch, tune_work("16,32"));
            if (kills < most_kills) {
                ++kills;
                std::this_thread::sleep_for(
                    std::chrono::microseconds(whole.count() * (kills * 7 % most_kills) / most_kills));
                stored = std::max(stored, trials_in(db));  // finished before the kill
                running.signal(SIGKILL);
                const int code = running.wait().code;
                through = code == 0;  // it ended before the signal reached it
                ASSERT_TRUE(through || code == 128 + SIGKILL) << "exit code " << code;
                ASSERT_TRUE(soon([&] { return running.descendants().empty(); })) << "a process survived kill " << kills;
            } else {
                const auto last = running.wait();
                ASSERT_EQ(last.code, 0) << last.err;
                through = true;
            }
            if (std::filesystem::exists(db)) {
                ASSERT_NO_THROW(Store{std::filesystem::path(db)}) << "kill " << kills;
                ASSERT_GE(trials_in(db), stored) << "kill " << kills << " lost a finished trial";
                stored = trials_in(db);
            } else {
                ASSERT_EQ(stored, 0);
            }
            most_trials = std::max(most_trials, through ? 0 : stored);
        }
        EXPECT_EQ(stored, 18);
        EXPECT_EQ(winners_in(db), expected);
        ++finished_runs;
    }
    EXPECT_GT(most_trials, 2) << "some kills hit in the middle of the work";
    RecordProperty("finished_runs", finished_runs);
}

// The winner at 32 never returns at 16 and at 20. The cross-size transfer tries it there.
class BetweenSizes : public ::testing::Test {
protected:
    void SetUp() override {
        const std::filesystem::path folder = scratch_ / "kernels";
        std::filesystem::copy(fixture("hidden"), folder);
        auto source = read_text(folder / "hidden.cu");
        const std::string first = "    const int column";
        source.insert(source.find(first),
                      "    volatile bool endless = WORK == 1 && M < 32;\n    while (endless) {\n    }\n");
        write_text(folder / "hidden.cu", source);
    }
    [[nodiscard]] std::vector<std::string> tune(const std::string& deadline) const {
        return {"tune",     "--device",   "host",  "--templates", scratch_ / "kernels", "--sizes", "16,20,32",
                "--search", "local",      "--db",  "t.db",        "--patience",         "4",       "--jobs",
                "2",        "--deadline", deadline};
    }
    [[nodiscard]] std::vector<std::string> winners() const { return winners_in(scratch_ / "t.db"); }
    // The sizes at which the winner at 32 was tried and rejected.
    [[nodiscard]] std::set<std::string> rejected_at() const {
        std::set<std::string> sizes;
        for (const auto& row : Store(scratch_ / "t.db", Store::Access::read).rows({.rejected_only = true})) {
            if (to_text(row.record.configuration) == "SHADE=77,WORK=1") sizes.insert(size_text(row.problem));
        }
        return sizes;
    }
    // The same command completes the run. The next run retries timeouts once, and the last run has nothing to do.
    void go_on() const {
        const auto second = run(scratch_, tune("1s"));
        EXPECT_EQ(second.code, 0) << second.err;
        EXPECT_THAT(rejected_at(), ElementsAre("16x16", "20x20"));
        const auto trials = trials_in(scratch_ / "t.db");
        const auto third = run(scratch_, tune("1s"));
        EXPECT_EQ(third.code, 0) << third.err;
        EXPECT_THAT(third.out, HasSubstr(" 0 measured, "));
        const auto last = run(scratch_, tune("1s"));
        EXPECT_EQ(last.code, 0) << last.err;
        EXPECT_EQ(trials_in(scratch_ / "t.db"), trials);
        EXPECT_THAT(last.out, HasSubstr(" 0 measured, 0 rejected"));
    }
    void wait_for_the_transfer(const Running& running) const {
        const std::vector<std::string> decided{"transpose f32 16x16 hidden SHADE=0,WORK=64",
                                               "transpose f32 20x20 hidden SHADE=0,WORK=64",
                                               "transpose f32 32x32 hidden SHADE=77,WORK=1"};
        ASSERT_TRUE(soon([&] { return trials_in(scratch_ / "t.db") > 0; }));
        ASSERT_TRUE(soon([&] { return winners() == decided; }));
        const auto before = most_ticks(running);
        ASSERT_TRUE(soon([&] { return is_inside_a_kernel(running, before); }));
    }

    const Scratch scratch_;
};

TEST_F(BetweenSizes, AKillLosesNothingAndTheNextRunGoesOn) {
    Running running(scratch_, tune("10m"));
    wait_for_the_transfer(running);
    const auto trials = trials_in(scratch_ / "t.db");
    const auto decided = winners();
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().code, 128 + SIGKILL);
    EXPECT_EQ(trials_in(scratch_ / "t.db"), trials);
    EXPECT_EQ(winners(), decided);
    go_on();
    EXPECT_EQ(winners(), decided);
}

TEST_F(BetweenSizes, AnInterruptStoresTheTrialInFlightAndTheNextRunGoesOn) {
    Running running(scratch_, tune("5s"));
    wait_for_the_transfer(running);
    const auto trials = trials_in(scratch_ / "t.db");
    const auto decided = winners();
    running.signal(SIGINT);
    EXPECT_EQ(running.wait().code, 130);
    EXPECT_EQ(trials_in(scratch_ / "t.db"), trials + 1);
    EXPECT_EQ(winners(), decided);
    EXPECT_THAT(rejected_at(), ElementsAre("16x16"));
    go_on();
    EXPECT_EQ(winners(), decided);
}

// The first trial that never returns takes longer than the budget, whenever it begins.
TEST_F(BetweenSizes, ABudgetThatIsSpentIsSaidAndTheNextRunGoesOn) {
    auto words = tune("4s");
    words.insert(words.end(), {"--budget", "3s"});
    const auto first = run(scratch_, words);
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.err, HasSubstr("the budget is spent; run the same command to go on"));
    EXPECT_THAT(rejected_at(), Not(Contains("20x20")));
    go_on();
}

TEST(Kill, InsideAnEndlessKernelLeavesNoWorkerBehind) {
    const Scratch scratch;
    Running running(scratch, tune_endless("10m"));
    ASSERT_TRUE(soon([&] { return is_inside_a_kernel(running); }));
    running.signal(SIGKILL);
    EXPECT_EQ(running.wait().code, 128 + SIGKILL);
    EXPECT_TRUE(soon([&] { return running.descendants().empty(); }, 5s));
}

TEST(Kill, OfItsWorkerAloneCostsTheRunOnlyTime) {
    const Scratch scratch;
    Running running(scratch, tune_work("16,32,48"));
    ASSERT_TRUE(soon([&] { return trials_in(scratch / "t.db") >= 1; }));
    int killed = 0;
    for (const auto process : running.descendants()) {
        if (read_process(process, "cmdline").find("worker") == std::string::npos) continue;
        kill(process, SIGKILL);
        ++killed;
    }
    EXPECT_EQ(killed, 1);
    const auto finished = running.wait();
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("0 rejected"));
    EXPECT_EQ(Store(scratch / "t.db", Store::Access::read).summary().measured, 27);
}

TEST(Interrupt, StoresTheTrialInFlightAndSaysHowToGoOn) {
    const Scratch scratch;
    Running running(scratch, tune_endless("5s"));
    ASSERT_TRUE(soon([&] { return is_inside_a_kernel(running); }));
    EXPECT_EQ(trials_in(scratch / "t.db"), 0);
    running.signal(SIGINT);
    const auto finished = running.wait();
    EXPECT_EQ(finished.code, 130);
    EXPECT_THAT(finished.err, HasSubstr("interrupted: everything finished is stored; run the same command to go on"));
    EXPECT_EQ(trials_in(scratch / "t.db"), 1) << "the trial in flight, and no further one";
    EXPECT_TRUE(soon([&] { return running.descendants().empty(); }, 5s));
}

TEST(Interrupt, ASecondTimeEndsAtOnce) {
    const Scratch scratch;
    Running running(scratch, tune_endless("10m"));
    ASSERT_TRUE(soon([&] { return is_inside_a_kernel(running); }));
    running.signal(SIGINT);
    std::this_thread::sleep_for(200ms);
    running.signal(SIGINT);
    EXPECT_TRUE(soon([&] { return running.ended(); }, 5s));
    EXPECT_EQ(running.wait().code, 130);
    EXPECT_TRUE(soon([&] { return running.descendants().empty(); }, 5s));
}

TEST(Interrupt, ASecondRunCompletes) {
    const Scratch scratch;
    Running running(scratch, tune_work("16,32,48"));
    ASSERT_TRUE(soon([&] { return trials_in(scratch / "t.db") >= 2; }));
    running.signal(SIGINT);
    ASSERT_EQ(running.wait().code, 130);
    const auto stored = trials_in(scratch / "t.db");
    EXPECT_LT(stored, 27);
    const auto second = run(scratch, tune_work("16,32,48"));
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_THAT(second.out, HasSubstr(std::to_string(stored) + " known before"));
    EXPECT_EQ(trials_in(scratch / "t.db"), 27);
    for (const auto& winner : winners_in(scratch / "t.db")) EXPECT_THAT(winner, ::testing::EndsWith("WORK=1"));
}

TEST(Interrupt, ATermSignalIsHeededAlike) {
    const Scratch scratch;
    Running running(scratch, tune_work("16,32,48"));
    ASSERT_TRUE(soon([&] { return trials_in(scratch / "t.db") >= 1; }));
    running.signal(SIGTERM);
    EXPECT_EQ(running.wait().code, 130);
}

// Like a terminal: every process of the group gets the signal.
TEST(Interrupt, TheKeyReachesTheWorkerTooAndCostsNoTrial) {
    const Scratch scratch;
    Running running(scratch, tune_work("16,32,48"));
    ASSERT_TRUE(soon([&] { return trials_in(scratch / "t.db") >= 1; }));
    running.signal(SIGINT);
    for (const auto process : running.descendants()) {
        if (read_process(process, "cmdline").find("worker") != std::string::npos) {
            kill(process, SIGINT);
        }
    }
    EXPECT_EQ(running.wait().code, 130);
    EXPECT_EQ(Store(scratch / "t.db", Store::Access::read).summary().rejected, 0);
}

TEST(Together, TwoProcessesTuneIntoOneFile) {
    const Scratch scratch;
    Running one(scratch, tune_work("16,32"));
    Running two(scratch, tune_work("32,48"));
    const auto first = one.wait();
    const auto second = two.wait();
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(trials_in(scratch / "t.db"), 27);
    EXPECT_EQ(winners_in(scratch / "t.db"),
              (std::vector<std::string>{"transpose f32 16x16 work WORK=1", "transpose f32 32x32 work WORK=1",
                                        "transpose f32 48x48 work WORK=1"}));
}

// A parent passes on which signals are ignored and which descriptors are closed.
TEST(Inherited, ARunNeedsNeitherChildSignalsNorStandardDescriptors) {
    const Scratch scratch;
    const auto database = scratch / "t.db";
    const auto tune = "trap '' CHLD; exec \"" + program() + "\" tune --device host --templates \"" + fixture("work") +
                      "\" --sizes 16 --db \"" + database + "\" --evaluations 4 <&- >&- 2>&-";
    EXPECT_EQ(run_process({"sh", "-c", tune}, 120s).exit_code, 0);
    EXPECT_GT(trials_in(database), 0);
}

}  // namespace
}  // namespace smemtune
