#include "tuner/shipping/merge_databases.h"

#include "db/file/journal.h"
#include "tests/tuner/support.h"
#include "tuner/shipping/new_database.h"

namespace smemtune {
namespace {

class MergeDatabases : public ::testing::Test {
protected:
    void SetUp() override {
        Store store(scratch / "a.db");
        store.remember(model_device("sm_90"));
    }
    Scratch scratch;
    std::vector<std::filesystem::path> files{scratch / "a.db", scratch / "a.db"};
};

TEST_F(MergeDatabases, AnInterruptedMergeLeavesNoFile) {
    const auto before = scratch.contents();
    for (int calls = 0; calls < 4; ++calls) {  // the merge asks at four places whether to stop
        int asked = 0;
        NewDatabase database(scratch / "all.db");
        EXPECT_FALSE(merge_databases(files, database.store(), [&] { return asked++ == calls; })) << calls;
    }
    EXPECT_EQ(scratch.contents(), before);
}

TEST_F(MergeDatabases, TheFileAppearsWhenItIsComplete) {
    NewDatabase database(scratch / "all.db");
    const auto merged = merge_databases(files, database.store(), [] { return false; });
    ASSERT_TRUE(merged);
    EXPECT_FALSE(std::filesystem::exists(scratch / "all.db"));
    database.finish();
    EXPECT_FALSE(is_in_wal_mode(scratch / "all.db")) << "read-only media have no room for a log";
    EXPECT_EQ(Store(scratch / "all.db", Store::Access::read).content(), merged->content);
}

// A killed process left an unfinished file and a journal. The killed process had the same process ID as this test.
TEST_F(MergeDatabases, WhatAKilledProcessLeftIsNoPartOfTheFile) {
    const auto unfinished = scratch / ("all.db.unfinished-" + std::to_string(getpid()));
    for (const auto& left : {unfinished, unfinished + "-journal"}) write_text(left, "what a killed process left");
    NewDatabase database(scratch / "all.db");
    EXPECT_FALSE(std::filesystem::exists(unfinished + "-journal"));
    database.finish();
    EXPECT_TRUE(Store(scratch / "all.db", Store::Access::read).devices().empty());
    EXPECT_FALSE(std::filesystem::exists(unfinished));
}

}  // namespace
}  // namespace smemtune
