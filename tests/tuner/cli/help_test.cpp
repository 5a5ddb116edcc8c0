#include "tuner/cli/help.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

TEST(Help, LinesAreBrokenAtSpacesAndIndented) {
    EXPECT_EQ(wrap("one two three four five six", 24, 0), "one two three four five\nsix\n");
    EXPECT_EQ(wrap("one two three four five six", 24, 4), "    one two three four\n    five six\n");
    EXPECT_EQ(wrap("first\n\nthird", 40, 2), "  first\n\n  third\n") << "its own lines stay";
    EXPECT_EQ(wrap("exactly_twenty_chars and", 24), "exactly_twenty_chars and\n");
}

TEST(Help, AWordThatIsLongerThanALineIsBrokenToo) {
    EXPECT_EQ(wrap("see /home/somebody/folder/file.db", 20), "see\n/home/somebody/\nfolder/file.db\n");
    EXPECT_EQ(wrap(std::string(45, 'x'), 20), std::string(20, 'x') + "\n" + std::string(20, 'x') + "\nxxxxx\n");
}

TEST(Help, TextsAreAlignedAndThatOfALongTermBeginsBelow) {
    EXPECT_EQ(help_rows({{"-a", "first"}, {"--long", "second"}}, 40), "  -a      first\n  --long  second\n");
    const std::string term(30, 't');
    EXPECT_EQ(help_rows({{"-a", "first"}, {term, "second"}}, 40), "  -a  first\n  " + term + "\n      second\n");
}

}  // namespace
}  // namespace smemtune
