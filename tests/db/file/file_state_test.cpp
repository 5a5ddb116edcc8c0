#include "db/file/file_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

class FileStateTest : public ::testing::Test {
protected:
    // Applies a change to the file, and expects that the file's state differs afterwards. Resets the time stamps that a
    // user can reset, so that they do not reveal the change.
    void expect_noticed(const char* what, const std::function<void()>& change) {
        struct stat before {};
        ASSERT_EQ(stat(file.c_str(), &before), 0);
        const auto state = settled_state_of(file);
        EXPECT_EQ(state_of(file), state) << what << ": nothing happened yet";
        change();
        const timespec times[2] = {before.st_atim, before.st_mtim};
        utimensat(AT_FDCWD, file.c_str(), times, 0);
        EXPECT_NE(state_of(file), state) << what;
    }

    Scratch scratch;
    std::filesystem::path file = scratch / "tuned.db";
};

TEST_F(FileStateTest, EveryChangeIsNoticed) {
    write_text(file, "content");
    expect_noticed("other content of the same size", [&] { write_text(file, "CONTENT"); });
    expect_noticed("other size", [&] { write_text(file, "more content"); });
    expect_noticed("another file in its place", [&] {
        write_text(scratch / "other", "more content");
        rename(scratch / "other", file);
    });
    expect_noticed("a log", [&] { write_text(file.string() + "-wal", "frames"); });
    expect_noticed("no file", [&] { std::filesystem::remove(file); });
}

TEST_F(FileStateTest, AnotherFileInItsPlaceIsNotTheSame) {
    write_text(file, "content");
    const auto before = state_of(file);
    write_text(file, "changed");
    EXPECT_TRUE(state_of(file).is_same_file(before));
    write_text(scratch / "other", "content");
    rename(scratch / "other", file);
    EXPECT_FALSE(state_of(file).is_same_file(before));
}

TEST_F(FileStateTest, TheStatesOfFileAndLogTellOfEachChange) {
    const auto log = scratch / "tuned.db-wal";
    write_text(file, "content");
    const auto without_log = states_of(file, log);
    EXPECT_FALSE(without_log.is_settled()) << "written a moment ago";
    write_text(log, "frames");
    const auto with_log = states_of(file, log);
    EXPECT_NE(with_log, without_log);
    settled_state_of(log);
    write_text(log, "FRAMES");
    EXPECT_NE(states_of(file, log), with_log);
    std::filesystem::remove(log);
    EXPECT_EQ(states_of(file, log), without_log);
    write_text(file, "CONTENT");
    EXPECT_NE(states_of(file, log), without_log);
}

TEST_F(FileStateTest, StatesAreSettledThreeSecondsAfterTheLastWrite) {
    const auto log = scratch / "tuned.db-wal";
    const auto settled = [&](auto file_age, auto log_age) {
        const auto now = std::filesystem::file_time_type::clock::now();
        std::filesystem::last_write_time(file, now - file_age);
        std::filesystem::last_write_time(log, now - log_age);
        return states_of(file, log).is_settled();
    };
    write_text(file, "content");
    write_text(log, "frames");
    using std::chrono::seconds;
    EXPECT_TRUE(settled(seconds(4), seconds(4)));
    EXPECT_FALSE(settled(seconds(2), seconds(4)));
    EXPECT_FALSE(settled(seconds(4), seconds(2)));
    EXPECT_FALSE(settled(seconds(-100), seconds(4))) << "written by a clock that is ahead";
    EXPECT_FALSE(states_of(scratch / "none", {}).is_settled()) << "a file that does not exist";
}

TEST_F(FileStateTest, AStateIsSettledWhenAFurtherChangeGetsAnotherTimeStamp) {
    write_text(file, "content");
    const auto state = settled_state_of(file);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_GE(now - std::chrono::nanoseconds(state.modified_ns), std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace smemtune
