#include "runtime/fetch/trust.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "runtime/runtime.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

class Trusted : public testing::Test {
protected:
    void SetUp() override {
        std::ofstream(file) << "code";
        fs::create_directories(folder);
        mode(scratch.path(), 0700);
        mode(folder, 0755);
        fs::rename(file, folder / "tuning.db");
        file = folder / "tuning.db";
        mode(file, 0644);
    }
    static void mode(const fs::path& path, mode_t bits) { ASSERT_EQ(chmod(path.c_str(), bits), 0); }

    TemporaryFolder scratch;
    fs::path folder = scratch / "folder";
    fs::path file = scratch / "tuning.db";
};

TEST_F(Trusted, IsAFileThatOnlyItsOwnerCanChange) {
    EXPECT_EQ(why_untrusted(file), "");
    mode(file, 0444);
    EXPECT_EQ(why_untrusted(file), "");
    EXPECT_NO_THROW(require_trusted_database(file));
}

TEST_F(Trusted, IsNoFileThatOthersCanChange) {
    mode(file, 0646);
    EXPECT_THAT(why_untrusted(file), AllOf(HasSubstr(file.string()), HasSubstr("mode 0646"), HasSubstr("chmod go-w")));
    const auto error = error_of<UntrustedFile>([&] { require_trusted_database(file); });
    EXPECT_THAT(error, AllOf(HasSubstr("Options::trust.any_owner"), HasSubstr("--trust-any-owner")));
}

TEST_F(Trusted, IsNoFileInAFolderThatOthersCanChangeUnlessTheyCannotReplaceIt) {
    mode(folder, 0757);
    EXPECT_THAT(why_untrusted(file), AllOf(HasSubstr(folder.string() + " is"), HasSubstr("mode 0757")));
    mode(folder, 01777);
    EXPECT_EQ(why_untrusted(file), "") << "as in /tmp";
    mode(file, 0666);
    EXPECT_NE(why_untrusted(file), "");
    mode(file, 01666);
    EXPECT_NE(why_untrusted(file), "") << "on a file, the sticky bit protects nothing";
}

TEST_F(Trusted, IsNoFileBelowAFolderThatOthersCanChangeHoweverFarUp) {
    const auto deep = folder / "a" / "b" / "tuning.db";
    fs::create_directories(deep.parent_path());
    std::ofstream(deep) << "code";
    for (const auto& path : {deep, folder / "a" / "b", folder / "a"}) mode(path, 0755);
    EXPECT_EQ(why_untrusted(deep), "");
    mode(folder, 0757);
    EXPECT_THAT(why_untrusted(deep), AllOf(HasSubstr(folder.string() + " is"), HasSubstr("chmod go-w")));
    mode(folder, 01777);
    EXPECT_EQ(why_untrusted(deep), "") << "others cannot replace a folder that is not theirs";
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
    ASSERT_EQ(chown((folder / "a").c_str(), nobody, 0), 0);
    EXPECT_THAT(why_untrusted(deep), HasSubstr((folder / "a").string() + " is"));
}

TEST_F(Trusted, IsWhatASymbolicLinkPointsTo) {
    const auto link = scratch / "link.db";
    fs::create_symlink(file, link);
    EXPECT_EQ(why_untrusted(link), "");
    mode(folder, 0777);
    EXPECT_NE(why_untrusted(link), "");
    EXPECT_THAT(why_untrusted(scratch / "absent.db"), HasSubstr("absent.db cannot be looked at"));
}

TEST_F(Trusted, IsNoFileOfAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    ASSERT_EQ(chown(file.c_str(), nobody, 0), 0);
    EXPECT_THAT(why_untrusted(file), AllOf(HasSubstr("'s, with mode 0644"), HasSubstr("or of root")));
    ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
    ASSERT_EQ(chown(folder.c_str(), nobody, 0), 0);
    EXPECT_THAT(why_untrusted(file), HasSubstr(folder.string() + " is"));
    mode(folder, 01755);
    EXPECT_NE(why_untrusted(file), "") << "a folder's owner can replace what is in it";
}

TEST_F(Trusted, IsTheGroupOfTheOwnerAloneButNoOther) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can choose a file's group";
    mode(file, 0664);
    ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
    EXPECT_EQ(why_untrusted(file), "") << "root's own group";
    ASSERT_EQ(chown(file.c_str(), 0, 1), 0);
    mode(file, 0664);
    EXPECT_THAT(why_untrusted(file), AllOf(HasSubstr("mode 0664"), HasSubstr("chmod g-w")));
}

TEST_F(Trusted, IsNoDatabaseWhoseLogOthersCanChange) {
    for (const auto* journal : {"-wal", "-journal"}) {
        const fs::path beside = file.string() + journal;
        std::ofstream(beside) << "pages";
        mode(beside, 0666);
        EXPECT_THAT(error_of<UntrustedFile>([&] { require_trusted_database(file); }), HasSubstr(beside.string()));
        mode(beside, 0600);
        EXPECT_NO_THROW(require_trusted_database(file));
    }
}

TEST_F(Trusted, IsNoTemplatesFolderInWhichOthersCanChangeAnyTemplate) {
    const auto inner = folder / "inner";
    fs::create_directories(inner);
    mode(inner, 0755);
    std::ofstream(inner / "notes.txt") << "text";
    mode(inner / "notes.txt", 0666);
    std::ofstream(inner / "k.toml") << "values = 'numbers.bin'";
    EXPECT_NO_THROW(require_trusted_templates(folder)) << "which is no part of a template";
    for (const auto* name : {"k.toml", "k.cu", "k.h", "k.cuh", "k.inl", "numbers.bin"}) {
        const auto part = inner / name;
        if (part.extension() != ".toml") std::ofstream(part) << "text";
        mode(part, 0666);
        EXPECT_THAT(error_of<UntrustedFile>([&] { require_trusted_templates(folder); }), HasSubstr(part.string()));
        mode(part, 0644);
    }
    mode(inner, 0777);
    EXPECT_THAT(error_of<UntrustedFile>([&] { require_trusted_templates(folder); }), HasSubstr(inner.string()));
    mode(inner, 0755);
    mode(folder, 0777);
    EXPECT_THAT(error_of<UntrustedFile>([&] { require_trusted_templates(folder); }), HasSubstr(folder.string()));
}

}  // namespace
}  // namespace smemtune
