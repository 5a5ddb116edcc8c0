#include "tuner/report/table.h"

#include <gmock/gmock.h>

#include "tuner/report/text.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table example() {
    Table table({{"problem"}, {"winner"}, {"time"}, {"pairs", true}}, "differs");
    table.add({"gemm f32 nn 512x512x512", "warp_tiled", "9.65 us", "30"}, "BLOCK_K=32,BLOCK_M=16");
    table.add({"gemm f32 nn 64x64x64", "tiled", "112.5 us", "120"}, "default");
    return table;
}

TEST(Table, NumbersAreAlignedToTheRightAndWordsToTheLeft) {
    EXPECT_EQ(example().to_text(),
              "problem                  winner          time  pairs  differs\n"
              "gemm f32 nn 512x512x512  warp_tiled   9.65 us     30  BLOCK_K=32,BLOCK_M=16\n"
              "gemm f32 nn 64x64x64     tiled       112.5 us    120  default\n");
}

TEST(Table, ACharacterOfSeveralBytesIsOneColumnWide) {
    Table plot({{"name"}, {"plot"}, {"unit"}});
    plot.add({"a", "███", "us"});
    const std::string expected =
        "name  plot  unit\n"
        "a     ███   us\n";
    EXPECT_EQ(plot.to_text(), expected);
    EXPECT_EQ(plot.to_text(16), expected);
}

TEST(Table, DetailsMoveBelowTheirRowsFirst) {
    EXPECT_EQ(example().to_text(60),
              "problem                  winner          time  pairs\n"
              "gemm f32 nn 512x512x512  warp_tiled   9.65 us     30\n"
              "    BLOCK_K=32,BLOCK_M=16\n"
              "gemm f32 nn 64x64x64     tiled       112.5 us    120\n"
              "    default\n");
}

TEST(Table, ThenTheCommonWordsOfTheFirstColumnBecomeItsHeading) {
    EXPECT_EQ(example().to_text(45),
              "gemm f32 nn  winner          time  pairs\n"
              "512x512x512  warp_tiled   9.65 us     30\n"
              "    BLOCK_K=32,BLOCK_M=16\n"
              "64x64x64     tiled       112.5 us    120\n"
              "    default\n");
}

TEST(Table, ThenOptionalColumnsAreLeftOut) {
    const auto text = example().to_text(35);
    EXPECT_THAT(text, HasSubstr("gemm f32 nn  winner          time\n"));
    EXPECT_THAT(text, Not(HasSubstr("pairs")));
}

TEST(Table, AtLastEveryRowIsAParagraphAndNoNumberIsCut) {
    const auto text = example().to_text(24);
    EXPECT_THAT(text, HasSubstr("512x512x512; winner\n    warp_tiled; time\n    9.65 us\n"));
    EXPECT_THAT(text, HasSubstr("    BLOCK_K=32,\n    BLOCK_M=16\n"));
}

TEST(Table, SizesAreNoNumbers) {
    EXPECT_EQ(table({{"a", "size"}, {"x", "16x16"}, {"x", "128x128"}}),
              "a  size\n"
              "x  16x16\n"
              "x  128x128\n");
}

TEST(Table, WithoutRowsThereAreTheHeadingsAlone) {
    EXPECT_EQ(Table({{"problem"}, {"time"}}).to_text(80), "problem  time\n");
    EXPECT_TRUE(Table({{"problem"}}).empty());
}

TEST(Folded, BreaksAtSpacesAndAfterCommas) {
    EXPECT_EQ(folded("one two three", 8), "one two\nthree\n");
    EXPECT_EQ(folded("A=1,B=2,C=3", 8, 2, 4), "  A=1,\n    B=2,\n    C=3\n");
    EXPECT_EQ(folded("one two three", 0), "one two three\n");
    EXPECT_EQ(folded("abcdefgh", 3), "abc\ndef\ngh\n") << "a word that is longer is broken";
    EXPECT_EQ(folded("abc def", 3), "abc\ndef\n");
    EXPECT_EQ(folded("", 3), "");
}

TEST(Text, CountsAndDurationsAreReadable) {
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(4515840000), "4,515,840,000");
    EXPECT_EQ(counted(1, "size"), "1 size");
    EXPECT_EQ(counted(2000, "trial"), "2,000 trials");
    EXPECT_EQ(duration_text(59.4), "59 s");
    EXPECT_EQ(duration_text(59.6), "1:00 min");
    EXPECT_EQ(duration_text(185), "3:05 min");
    EXPECT_EQ(duration_text(3599), "59:59 min");
    EXPECT_EQ(duration_text(3600), "1:00:00 h");
    EXPECT_EQ(duration_text(3753), "1:02:33 h");
}

TEST(Text, AConfigurationIsShownByTheValuesThatDiffer) {
    const Configuration defaults{{{"BLOCK_K", 8}, {"BLOCK_M", 128}}};
    EXPECT_EQ(differences_text({{{"BLOCK_K", 16}, {"BLOCK_M", 128}}}, defaults), "BLOCK_K=16");
    EXPECT_EQ(differences_text(defaults, defaults), "default");
    EXPECT_EQ(differences_text({}, {}), "default") << "a template without parameters";
    EXPECT_EQ(differences_text({{{"NEW", 1}}}, defaults), "NEW=1") << "unknown to the defaults";
}

}  // namespace
}  // namespace smemtune
