// Tests read-only files and folders. A process without root's rights opens them, because root may write everything.
#include "db/file/journal.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using std::filesystem::path;
using Access = Store::Access;

std::string as_nobody(const std::function<std::string()>& work) {
    return in_child([&](int output) {
               become_nobody();
               say(output, work());
           })
        .finish();
}

std::string as_nobody_read(const path& file) {
    return as_nobody([&] {
        const auto error = error_of([&] {
            const Store store(file, Access::read);
            if (store.rows({}).empty()) throw StoreError("no rows");
        });
        return error.empty() ? "read" : error;
    });
}

class ReadOnlyTest : public ::testing::Test {
protected:
    void set_modes(unsigned file_mode, unsigned folder_mode) {
        permissions(file, std::filesystem::perms(file_mode));
        permissions(scratch.path(), std::filesystem::perms(folder_mode));
    }
    void TearDown() override { permissions(scratch.path(), std::filesystem::perms(0755)); }

    std::string nobody_writes() {
        return as_nobody([&] { return error_of([&] { Store(file, Access::write); }); });
    }

    Scratch scratch;
    path file = stored(scratch / "tuned.db");
};

TEST_F(ReadOnlyTest, AFileIsReadButNotWritten) {
    set_modes(0444, 0777);
    const auto before = scratch.contents();
    EXPECT_EQ(nobody_writes(),
              file.string() + ": is read-only (Permission denied); make it writable, or choose another");
    EXPECT_TRUE(scratch.contents() == before);
    EXPECT_EQ(as_nobody_read(file), "read");
    EXPECT_TRUE(scratch.contents() == before) << "nothing is left beside it, which its owner could not write";
}

TEST_F(ReadOnlyTest, AFileInAReadOnlyFolderIsReadButNotWritten) {
    for (const unsigned file_mode : {0444u, 0666u}) {
        set_modes(file_mode, 0555);
        const auto before = scratch.contents();
        EXPECT_NE(nobody_writes().find("read-only"), std::string::npos) << nobody_writes();
        EXPECT_EQ(as_nobody_read(file), "read");
        EXPECT_TRUE(scratch.contents() == before);
    }
}

TEST_F(ReadOnlyTest, AFolderThatIsReadOnlyTakesNoNewFile) {
    permissions(scratch.path(), std::filesystem::perms(0555));
    const auto error = as_nobody([&] { return error_of([&] { Store(scratch / "new.db"); }); });
    EXPECT_EQ(error, (scratch / "new.db").string() +
                         ": is in a read-only directory (Permission denied); make the "
                         "directory writable, or choose another");
    const auto deeper = as_nobody([&] { return error_of([&] { Store(scratch / "a" / "new.db"); }); });
    EXPECT_NE(deeper.find("its directory cannot be created (Permission denied)"), std::string::npos) << deeper;
}

TEST_F(ReadOnlyTest, AFileThatMayNotBeReadIsAnError) {
    set_modes(0600, 0755);
    for (const auto access : {Access::read, Access::write}) {
        EXPECT_EQ(as_nobody([&] { return error_of([&] { Store(file, access); }); }),
                  file.string() + ": cannot be read (Permission denied); check its permissions");
    }
    permissions(scratch.path(), std::filesystem::perms(0700));
    EXPECT_NE(as_nobody_read(file).find("cannot be accessed (Permission denied)"), std::string::npos);
}

TEST_F(ReadOnlyTest, UnfinishedWorkThatCannotBeRecoveredIsAnErrorAndNotStaleData) {
    execute_and_die(file, "UPDATE trials SET median_us = 2");
    remove(path(file.string() + "-shm"));
    ASSERT_TRUE(has_pending_journal(file));
    set_modes(0444, 0555);
    EXPECT_NE(as_nobody_read(file).find(": has changes in its -wal or -journal file"), std::string::npos)
        << as_nobody_read(file);
    EXPECT_EQ(Store(file, Access::read).rows({}).size(), 1u) << "who may write recovers it";
}

TEST_F(ReadOnlyTest, IsReadWhileAnotherWrites) {
    Store writer(file);
    const auto key = key_in(writer);
    writer.remember(measured(key, tile(77), 1));
    permissions(file, std::filesystem::perms(0444));
    permissions(scratch.path(), std::filesystem::perms(0555));
    for (const auto* beside : {"-wal", "-shm"}) permissions(file.string() + beside, std::filesystem::perms(0444));
    EXPECT_EQ(as_nobody([&] { return std::to_string(Store(file, Access::read).trials(key).size()); }), "2");
}

}  // namespace
}  // namespace smemtune
