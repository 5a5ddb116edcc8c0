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

}  // namespace
}  // namespace smemtune
