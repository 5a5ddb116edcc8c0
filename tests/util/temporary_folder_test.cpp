#include "util/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace smemtune {
namespace {

TEST(TemporaryFolder, GoesWithItsContents) {
    std::filesystem::path path;
    {
        const TemporaryFolder folder("prefix");
        path = folder.path();
        EXPECT_TRUE(path.filename().string().starts_with("prefix-"));
        folder.write("a/b/c.txt", "text\n");
        std::ifstream stream(folder / "a/b/c.txt");
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "text\n");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, NoTwoAreTheSame) { EXPECT_NE(TemporaryFolder().path(), TemporaryFolder().path()); }

TEST(TemporaryFolder, AFileThatCannotBeWrittenIsAnError) {
    const TemporaryFolder folder;
    folder.write("file", "");
    EXPECT_THROW(folder.write("file/below", "text"), std::runtime_error);
    std::filesystem::create_directory(folder / "folder");
    EXPECT_THROW(folder.write("folder", "text"), std::runtime_error);
}

// Makes a folder that no object owns, like the one that a killed process leaves behind. `age` is the time since its
// last change.
std::filesystem::path leftover(const std::filesystem::path& parent, const std::string& name, std::chrono::hours age) {
    const auto path = parent / name;
    std::filesystem::create_directories(path / "below");
    std::ofstream(path / "below/file") << "text";
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
    return path;
}

TEST(TemporaryFolder, LeftoversOfAKilledProcessAreRemoved) {
    const TemporaryFolder parent;
    const auto old = leftover(parent.path(), "tuner-a1B2c3", std::chrono::hours(2));
    const auto recent = leftover(parent.path(), "tuner-a1B2c4", std::chrono::hours(0));
    const auto of_another_program = leftover(parent.path(), "tuner-other-a1B2c3", std::chrono::hours(2));
    const auto without_prefix = leftover(parent.path(), "other-a1B2c3", std::chrono::hours(2));
    remove_leftovers(parent.path(), "tuner");
    EXPECT_FALSE(std::filesystem::exists(old));
    EXPECT_TRUE(std::filesystem::exists(recent)) << "it may be in use and not locked yet";
    EXPECT_TRUE(std::filesystem::exists(of_another_program));
    EXPECT_TRUE(std::filesystem::exists(without_prefix));
}

TEST(TemporaryFolder, AnOldFolderInUseIsNoLeftover) {
    const TemporaryFolder used("tuner");
    const auto age = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
    std::filesystem::last_write_time(used.path(), age);
    remove_leftovers(used.path().parent_path(), "tuner");
    EXPECT_TRUE(std::filesystem::exists(used.path()));
}

TEST(TemporaryFolder, WhatALinkNamesIsNoLeftover) {
    const TemporaryFolder parent;
    const auto precious = leftover(parent.path(), "precious", std::chrono::hours(2));
    std::filesystem::create_directory_symlink(precious, parent / "tuner-a1B2c3");
    remove_leftovers(parent.path(), "tuner");
    EXPECT_TRUE(std::filesystem::exists(precious / "below/file"));
}

TEST(TemporaryFolder, LeftoversInAFolderThatIsMissingAreNone) { remove_leftovers("/no/such/folder", "tuner"); }

TEST(TemporaryFolder, ALeftoverIsOlderThanAnHour) {
    const TemporaryFolder parent;
    const auto aged = [&](const std::string& name, std::chrono::minutes age) {
        const auto path = leftover(parent.path(), name, std::chrono::hours(0));
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
        return path;
    };
    const auto younger = aged("tuner-aaaaaa", std::chrono::minutes(58));
    const auto older = aged("tuner-bbbbbb", std::chrono::minutes(62));
    const auto longer_name = aged("tuner-ccccccc", std::chrono::minutes(62));
    const auto shorter_name = aged("tuner-ccccc", std::chrono::minutes(62));
    remove_leftovers(parent.path(), "tuner");
    EXPECT_TRUE(std::filesystem::exists(younger));
    EXPECT_FALSE(std::filesystem::exists(older));
    EXPECT_TRUE(std::filesystem::exists(longer_name));
    EXPECT_TRUE(std::filesystem::exists(shorter_name));
    remove_leftovers(parent.path(), "tuner", std::chrono::minutes(57));
    EXPECT_FALSE(std::filesystem::exists(younger));
}

TEST(TemporaryFolder, AFileMustLieBelowItAndTheErrorNamesIt) {
    const TemporaryFolder folder;
    for (const std::string name : {"../x", "/x", "a/../b", ""}) {
        try {
            folder.write(name, "text");
            ADD_FAILURE() << name;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), "'" + name + "' does not lie below its folder and was not written");
        }
    }
    std::filesystem::create_directory(folder / "folder");
    try {
        folder.write("folder", "text");
        ADD_FAILURE();
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "cannot write " + (folder / "folder").string() + "; is the disk full?");
    }
}

// Runs in a new process, because only the first TemporaryFolder of a process looks for leftovers.
TEST(TemporaryFolderDeathTest, TheFirstFolderOfAProcessRemovesLeftovers) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            auto pattern = (std::filesystem::temp_directory_path() / "tuner_parent_XXXXXX").string();
            const std::filesystem::path parent = mkdtemp(pattern.data());
            setenv("TMPDIR", parent.c_str(), 1);
            const auto old = leftover(parent, "tuner-a1B2c3", std::chrono::hours(2));
            { const TemporaryFolder first("tuner"); }
            const bool is_removed = !std::filesystem::exists(old);
            const auto later = leftover(parent, "tuner-a1B2c3", std::chrono::hours(2));
            { const TemporaryFolder second("tuner"); }
            const bool is_left = std::filesystem::exists(later);
            std::filesystem::remove_all(parent);
            std::exit(is_removed && is_left ? 7 : 1);
        },
        testing::ExitedWithCode(7), "");
}

// Makes a folder in `parent`. Prints the error and exits with 7 if that fails, or else with 1.
[[noreturn]] void make_folder_in(const char* parent) {
    setenv("TMPDIR", parent, 1);
    try {
        const TemporaryFolder folder("tuner");
    } catch (const std::runtime_error& error) {
        std::fputs(error.what(), stderr);
        std::exit(7);
    }
    std::exit(1);
}

TEST(TemporaryFolderDeathTest, AFolderThatCannotBeMadeIsAnErrorThatNamesTmpdir) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(make_folder_in("/proc"), testing::ExitedWithCode(7),
                "cannot create a folder like /proc/tuner-.*: .*; name another place in TMPDIR");
    EXPECT_EXIT(make_folder_in("/nowhere"), testing::ExitedWithCode(7),
                "the folder for temporary files cannot be used: .*; name an existing folder in TMPDIR");
}

}  // namespace
}  // namespace smemtune
