// Tests several processes that use one database file. Some of them are killed.
#include <sched.h>
#include <sys/mount.h>

#include <csignal>
#include <random>
#include <sstream>
#include <thread>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

// The parameter is true for a rollback journal, as on network filesystems, and false for a write-ahead log, as on local
// disks.
class ProcessesTest : public ::testing::TestWithParam<bool> {
protected:
    StoreOptions options{.patience = std::chrono::minutes(10), .rollback_journal = GetParam()};
    Scratch scratch;
    std::filesystem::path path = scratch / "tuned.db";

    void expect_intact() {
        EXPECT_EQ(SQLite::Database(path.string()).execAndGet("PRAGMA integrity_check").getString(), "ok");
    }
};

TEST_P(ProcessesTest, TwoThatStoreAtOnceLoseNothing) {
    const int each = GetParam() ? 40 : 200;  // with a rollback journal, each commit waits for the disk
    std::vector<Child> children;
    for (int process = 0; process < 2; ++process) {
        children.push_back(in_child([&](int output) {
            say(output, error_of([&] {
                    Store store(path, Store::Access::write, options);
                    const auto key = key_in(store);
                    for (int i = 0; i < each; ++i) {
                        store.remember(measured(key, {{{"PROCESS", process}, {"TRIAL", i}}}, i + 1));
                        if (i % 20 == 0) store.set_winner(key, {{{"PROCESS", process}, {"TRIAL", i}}}, {});
                        if (!store.best(key.device, key.problem)) throw StoreError("no best");
                    }
                }));
        }));
    }
    for (auto& child : children) EXPECT_EQ(child.finish(), "");
    Store store(path, Store::Access::read, options);
    const auto summary = store.summary();
    EXPECT_EQ(summary.measured, 2 * each);
    EXPECT_EQ(summary.devices, 1);
    EXPECT_EQ(summary.templates, 1);
    EXPECT_EQ(summary.problems, 1);
    const auto key = TrialKey{1, 1, 1};
    for (int process = 0; process < 2; ++process) {
        for (int i = 0; i < each; ++i) {
            EXPECT_TRUE(store.recall(key, {{{"PROCESS", process}, {"TRIAL", i}}}));
        }
    }
    expect_intact();
}

// Stores trials until the process is killed. Reports each trial after it is stored.
void store_until_killed(int output, const std::filesystem::path& path, const StoreOptions& options, int round) {
    Store store(path, Store::Access::write, options);
    const auto key = key_in(store);
    for (int i = 0;; ++i) {
        const Configuration configuration{{{"ROUND", round}, {"TRIAL", i}}};
        store.remember(measured(key, configuration, i + 1));
        if (i % 7 == 0) store.set_winner(key, configuration, {});
        say(output, std::to_string(i) + "\n");
    }
}

TEST_P(ProcessesTest, AKillAtAnyMomentLosesNoTrialThatWasStored) {
    std::mt19937 random(2024);  // NOLINT: the same moments every time, as far as a scheduler allows
    int reported_ever = 0;
    for (int round = 0; round < 20; ++round) {
        if (round % 4 == 0) {  // every fourth round creates the file anew, so that the kill may hit its creation
            for (const auto& [file, content] : scratch.contents()) std::filesystem::remove(file);
        }
        auto child = in_child([&](int output) { store_until_killed(output, path, options, round); });
        std::string begin;
        if (round % 2 == 1) {  // every second round waits for the first report before it kills the child
            begin.resize(1);
            ASSERT_EQ(read(child.output, begin.data(), 1), 1);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % (round % 4 == 0 ? 12'000 : 60'000)));
        kill(child.id, SIGKILL);
        std::istringstream reports(begin + child.finish());
        int reported = 0;
        for (int i = 0; reports >> i;) reported = i + 1;
        reported_ever += reported;

        Store store(path, Store::Access::write, options);
        const auto key = key_in(store);
        for (int i = 0; i < reported; ++i) {
            ASSERT_TRUE(store.recall(key, {{{"ROUND", round}, {"TRIAL", i}}})) << "round " << round << " trial " << i;
        }
        ASSERT_FALSE(store.recall(key, {{{"ROUND", round}, {"TRIAL", reported + 1}}})) << "round " << round;
    }
    EXPECT_GT(reported_ever, 0);
    expect_intact();
}

TEST_P(ProcessesTest, WhatAKilledProcessLeftIsReadWithoutWriting) {
    auto child = in_child([&](int output) { store_until_killed(output, path, options, 0); });
    std::string reports(4, ' ');
    ASSERT_GT(read(child.output, reports.data(), reports.size()), 0) << "the first trial is stored";
    kill(child.id, SIGKILL);
    child.finish();
    const Store store(path, Store::Access::read, options);
    EXPECT_TRUE(store.recall({1, 1, 1}, {{{"ROUND", 0}, {"TRIAL", 0}}}));
}

// The child mounts a small filesystem that only this test uses. Only root can mount it.
TEST_P(ProcessesTest, AFullDiskLosesNoTrialThatWasStoredAndTheMessageSaysSo) {
    auto child = in_child([&](int output) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", scratch.path().c_str(), "tmpfs", 0, "size=512k") != 0) {
            return say(output, "skip");
        }
        int stored_trials = 0;
        const auto error = error_of([&] {
            Store store(path, Store::Access::write, options);
            const auto key = key_in(store);
            for (;; ++stored_trials) store.remember(measured(key, tile(stored_trials), 1));
        });
        const auto kept = Store(path, Store::Access::read, options).trials({1, 1, 1}).size();
        const bool is_right = stored_trials > 8 && static_cast<int>(kept) == stored_trials &&
                              error == path.string() +
                                           ": the disk is full; the trials stored before are kept: make "
                                           "room and run again";
        say(output, is_right ? "right" : error + " " + std::to_string(stored_trials) + " " + std::to_string(kept));
    });
    const auto result = child.finish();
    if (result == "skip") GTEST_SKIP() << "needs the right to mount";
    EXPECT_EQ(result, "right");
}

INSTANTIATE_TEST_SUITE_P(Journal, ProcessesTest, ::testing::Values(false, true),
                         [](const auto& rollback) { return rollback.param ? "Rollback" : "Log"; });

}  // namespace
}  // namespace smemtune
