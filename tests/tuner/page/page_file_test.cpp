#include "tuner/page/page_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>

#include "tests/tuner/support.h"
#include "tuner/cli/command_line.h"

namespace smemtune {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Waits until the file contains the text. If it never does, the time limit of the test ends the wait.
void wait_for_text(const std::filesystem::path& file, const std::string& text) {
    while (read_text(file).find(text) == std::string::npos) std::this_thread::sleep_for(5ms);
}

TEST(PageFile, AFailedWriteLeavesTheFileAlone) {
    const Scratch scratch;
    write_page(scratch / "page.html", "first");
    write_page(scratch / "page.html", "second");
    EXPECT_EQ(read_text(scratch / "page.html"), "second");
    EXPECT_THROW(write_page(scratch / "absent/page.html", "third"), UsageError);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

// A limit on the file size makes the write fail, as a full disk would. The limit applies to a whole process, so a child
// process sets it.
TEST(PageFile, AWriteThatEndsEarlyLeavesNothingUnfinished) {
    const Scratch scratch;
    write_page(scratch / "page.html", "first");
    const auto child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            write_page(scratch / "page.html", std::string(100'000, 'x'));
        } catch (const UsageError&) {
            _exit(0);
        }
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read_text(scratch / "page.html"), "first");
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1);
}

TEST(PageFile, ALinkIsFollowed) {
    const Scratch scratch;
    fs::create_directory(scratch / "folder");
    write_page(scratch / "folder/page.html", "first");
    fs::create_symlink("folder/page.html", scratch / "link.html");
    fs::create_symlink("folder/new.html", scratch / "dangling.html");
    write_page(scratch / "link.html", "second");
    write_page(scratch / "dangling.html", "third");
    EXPECT_EQ(read_text(scratch / "folder/page.html"), "second");
    EXPECT_EQ(read_text(scratch / "folder/new.html"), "third");
    EXPECT_TRUE(fs::is_symlink(scratch / "link.html"));
}

TEST(PageFile, APipeIsWrittenAndNotReplaced) {
    const Scratch scratch;
    const auto pipe = scratch / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    auto reader = std::async(std::launch::async, [&] { return read_text(pipe); });
    write_page(pipe, "page");
    ASSERT_TRUE(fs::is_fifo(pipe));  // if a file had replaced the pipe, the reader would wait for ever
    EXPECT_EQ(reader.get(), "page");
}

TEST(PageFile, ALinkWithTheNameOfTheUnfinishedPageLeadsNowhere) {
    const Scratch scratch;
    write_page(scratch / "other.txt", "other");
    fs::create_symlink("other.txt", scratch / ("page.html.unfinished-" + std::to_string(getpid())));
    write_page(scratch / "page.html", "page");
    EXPECT_EQ(read_text(scratch / "other.txt"), "other");
    EXPECT_EQ(read_text(scratch / "page.html"), "page");
    EXPECT_FALSE(fs::is_symlink(scratch / "page.html"));
}

TEST(FollowingPage, ShowsTrialsWhileTheyAreStoredAndSaysWhenTheRunEnded) {
    const Scratch scratch;
    const auto file = scratch / "page.html";
    {
        const FollowingPage page(file, scratch / "new.db", {}, 10ms);
        EXPECT_THAT(read_text(file), HasSubstr("no trial yet"));
        Store store(scratch / "new.db");
        const TrialKey key{store.remember(model_device("sm_90")),
                           store.remember(TemplateRecord{"tiled", "gemm", "hash", {}}), store.remember(gemm(8, 8, 8))};
        store.remember(TrialRecord{
            .key = key, .configuration = parse_configuration("X=1"), .outcome = Measurement{.median_us = 5}});
        wait_for_text(file, R"("size":"8x8x8")");
        EXPECT_THAT(read_text(file), HasSubstr(R"("unfinished":true)"));
    }
    EXPECT_THAT(read_text(file), HasSubstr(R"("unfinished":false)"));
}

TEST(FollowingPage, AFileThatCannotBeWrittenIsToldAtOnce) {
    const Scratch scratch;
    EXPECT_THROW(FollowingPage(scratch / "absent/page.html", scratch / "new.db", {}), UsageError);
}

}  // namespace

}  // namespace smemtune
