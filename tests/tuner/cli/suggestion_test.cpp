#include "tuner/cli/suggestion.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

TEST(Suggestion, DistancesCountLettersInsertedDeletedReplacedOrSwapped) {
    EXPECT_EQ(edit_distance("tiled", "tiled"), 0U);
    EXPECT_EQ(edit_distance("tield", "tiled"), 1U) << "two neighbours swapped";
    EXPECT_EQ(edit_distance("tild", "tiled"), 1U);
    EXPECT_EQ(edit_distance("tilled", "tiled"), 1U);
    EXPECT_EQ(edit_distance("tiles", "tiled"), 1U);
    EXPECT_EQ(edit_distance("", "tiled"), 5U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(edit_distance("xb", "by"), 2U) << "a letter in another place is no swap";
    EXPECT_EQ(edit_distance("bx", "yb"), 2U);
}

TEST(Suggestion, IsTheNearestWordOrTheOnlyOneThatBeginsSo) {
    const std::vector<std::string> known{"tiled", "row_tile", "joint_tiled", "naive"};
    EXPECT_EQ(nearest_word("tield", known), "tiled");
    EXPECT_EQ(nearest_word("TILED", known), "tiled");
    EXPECT_EQ(nearest_word("jont_tield", known), "joint_tiled");
    EXPECT_EQ(nearest_word("joint", known), "joint_tiled");
    EXPECT_EQ(nearest_word("--evalutions", {"--evaluations", "--validate"}), "--evaluations");
    EXPECT_EQ(nearest_word("naivx", {"naive", "naivy"}), "naive") << "the first of several";
    EXPECT_EQ(nearest_word("tixxed", {"tiled"}), "tiled") << "two of six letters";
}

TEST(Suggestion, IsNoneWhenNoWordIsNear) {
    EXPECT_EQ(nearest_word("nope", {"naive", "tiled"}), "");
    EXPECT_EQ(nearest_word("", {"naive"}), "");
    EXPECT_EQ(nearest_word("tixxx", {"tiled"}), "") << "three of five letters";
    EXPECT_EQ(nearest_word("tyyed", {"tiled"}), "") << "two of five letters";
    EXPECT_EQ(nearest_word("row", {"row_tile", "row_column_tile"}), "") << "either could be meant";
    EXPECT_EQ(did_you_mean("nope", {"naive"}), ".");
    EXPECT_EQ(did_you_mean("naiv", {"naive"}), "; did you mean 'naive'?");
}

}  // namespace
}  // namespace smemtune
