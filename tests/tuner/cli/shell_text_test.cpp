#include "tuner/cli/shell_text.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

TEST(ShellText, QuotesTheWordsThatAShellWouldChange) {
    EXPECT_EQ(shell_text("smemtune bench", {"--sizes", "512..8192:512,7", "--db=a/b-c_d+1.db"}),
              "smemtune bench --sizes 512..8192:512,7 --db=a/b-c_d+1.db");
    EXPECT_EQ(shell_word("*tiled"), "'*tiled'");
    EXPECT_EQ(shell_word("two words"), "'two words'");
    EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(CommandFor, NamesTheDatabase) {
    EXPECT_EQ(command_for("a.db", "db list"), "'smemtune db list --db a.db'");
    EXPECT_EQ(command_for("my own.db", "db list"), "'smemtune db list --db 'my own.db''");
}

}  // namespace
}  // namespace smemtune
