#include "db/file/journal.h"

#include <SQLiteCpp/Column.h>

#include "db/file/open.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using std::filesystem::path;
using Access = Store::Access;

TEST(Journal, FilesystemsWithoutSharedMemoryGetARollbackJournal) {
    for (const long type : {0x6969L, 0x517BL, 0xFF534D42L, 0xFE534D42L, 0x01021997L, 0x65735546L, 0x0BD00BD0L,
                            static_cast<long>(static_cast<std::int32_t>(0xFF534D42)), 0xAAD7AAEAL, 0x013111A8L, 0L}) {
        EXPECT_EQ(journal_for(type), Journal::rollback) << std::hex << type;
    }
    // Local filesystems: ext4, xfs, btrfs, tmpfs, overlay and ZFS.
    for (const long type :
         {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794C7630L, 0x2FC12FC1L,
          static_cast<long>(static_cast<std::int32_t>(0x9123683E))}) {  // the last number: btrfs, sign-extended
        EXPECT_EQ(journal_for(type), Journal::wal) << std::hex << type;
    }
    EXPECT_EQ(journal_at("/no/such/folder/file.db"), Journal::rollback) << "the one that always works";
}

TEST(Journal, AStoreWithoutSharedMemoryNeverMakesALog) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    Store store(file, Access::write, {.rollback_journal = true});
    const auto key = key_in(store);
    store.remember(measured(key, tile(16), 7));
    EXPECT_EQ(Store(file, Access::read, {.rollback_journal = true}).trials(key).size(), 1u);
    EXPECT_FALSE(exists(path(file.string() + "-wal")));
    EXPECT_FALSE(exists(path(file.string() + "-shm")));
    EXPECT_FALSE(is_in_wal_mode(file));
}

TEST(Journal, AFileFromALocalDiskIsReadAndThenWrittenWithoutSharedMemory) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db");
    EXPECT_TRUE(is_in_wal_mode(file));
    const auto before = scratch.contents();
    EXPECT_EQ(Store(file, Access::read, {.rollback_journal = true}).rows({}).size(), 1u);
    EXPECT_TRUE(scratch.contents() == before);

    execute_and_die(file, "UPDATE trials SET median_us = 3");  // this change is only in the log
    ASSERT_TRUE(has_pending_journal(file));
    remove(path(file.string() + "-shm"));
    Store store(file, Access::write, {.rollback_journal = true});
    EXPECT_FALSE(is_in_wal_mode(file));
    EXPECT_FALSE(exists(path(file.string() + "-wal")));
    EXPECT_FALSE(exists(path(file.string() + "-shm")));
    EXPECT_EQ(std::get<Measurement>(store.rows({}).at(0).record.outcome).median_us, 3);
}

TEST(Journal, ADamagedFileIsNotBroughtIntoAnotherMode) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db", 600);
    overwrite(file, 100000, 40000);
    const auto before = scratch.contents();
    EXPECT_NE(error_of([&] { Store(file, Access::write, {.rollback_journal = true}); }).find("corrupt"),
              std::string::npos);
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Journal, ALocalFileReturnsToTheLog) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    { Store(file, Access::write, {.rollback_journal = true}); }
    { Store(file, Access::write); }
    EXPECT_TRUE(is_in_wal_mode(file));
}

TEST(Journal, ACommitIsSynchronisedWhereThereIsNoLog) {
    const Scratch scratch;
    auto log = open_database(scratch / "log.db", Access::write, {});
    auto rollback = open_database(scratch / "rollback.db", Access::write, {.rollback_journal = true});
    EXPECT_EQ(log.execAndGet("PRAGMA synchronous").getInt(), 1) << "NORMAL";
    EXPECT_EQ(rollback.execAndGet("PRAGMA synchronous").getInt(), 2) << "FULL";
    EXPECT_EQ(rollback.execAndGet("PRAGMA foreign_keys").getInt(), 1);
}

TEST(Journal, IsTheOneThatWasAskedFor) {
    const Scratch scratch;
    for (const bool rollback : {false, true}) {
        const auto file = scratch / (rollback ? "rollback.db" : "log.db");
        { const Store store(file, Store::Access::write, {.rollback_journal = rollback}); }
        const bool has_log = !rollback && journal_at(file) == Journal::wal;
        EXPECT_EQ(value_of(file, "PRAGMA journal_mode"), has_log ? "wal" : "delete");
    }
}

}  // namespace
}  // namespace smemtune
