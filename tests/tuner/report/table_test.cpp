#include "tuner/report/table.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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

TEST(Text, ATimeHasTheUnitThatKeepsItBelowAThousand) {
    for (const auto& [microseconds, text] : std::vector<std::pair<double, std::string>>{{0, "0 us"},
                                                                                        {0.12345, "0.1235 us"},
                                                                                        {9.648, "9.648 us"},
                                                                                        {999.94, "999.9 us"},
                                                                                        {1000, "1 ms"},
                                                                                        {3210, "3.21 ms"},
                                                                                        {999'900, "999.9 ms"},
                                                                                        {1e6, "1 s"},
                                                                                        {12'345'678, "12.35 s"}}) {
        EXPECT_EQ(time_text(microseconds), text);
    }
}

TEST(Text, ARateIsInGigaBelowATenthOfATera) {
    EXPECT_EQ(rate_text(1.6e9), "1.60 G");
    EXPECT_EQ(rate_text(9.9e10), "99.00 G");
    EXPECT_EQ(rate_text(1e11), "0.10 T");
    EXPECT_EQ(rate_text(24.904e12), "24.90 T");
}

TEST(Text, ADurationIsRoundedToSeconds) {
    EXPECT_EQ(duration_text(0), "0 s");
    EXPECT_EQ(duration_text(0.5), "1 s");
    EXPECT_EQ(duration_text(60), "1:00 min");
    EXPECT_EQ(duration_text(3599.4), "59:59 min");
    EXPECT_EQ(duration_text(3599.5), "1:00:00 h");
    EXPECT_EQ(duration_text(36061), "10:01:01 h");
}

TEST(Text, ACountHasACommaAfterEachThreeDigits) {
    for (const auto& [count, text] :
         std::vector<std::pair<std::uint64_t, std::string>>{{0, "0"},
                                                            {12, "12"},
                                                            {1000, "1,000"},
                                                            {12345, "12,345"},
                                                            {123456, "123,456"},
                                                            {1234567, "1,234,567"},
                                                            {18446744073709551615U, "18,446,744,073,709,551,615"}}) {
        EXPECT_EQ(count_text(count), text);
    }
    EXPECT_EQ(counted(0, "size"), "0 sizes");
}

TEST(Text, AListIsSplitAtItsSeparatorWithoutEmptyParts) {
    EXPECT_EQ(split("a,b c,,d,", ','), (std::vector<std::string>{"a", "b c", "d"}));
    EXPECT_EQ(split("", ','), std::vector<std::string>{});
    EXPECT_EQ(split("a", ','), std::vector<std::string>{"a"});
    EXPECT_EQ(split("a,b;c", ';'), (std::vector<std::string>{"a,b", "c"}));
}

TEST(Text, JsonIsIndentedAndHoldsNoBytesThatAreNotUtf8) {
    EXPECT_EQ(json_text({{"a", {1, 2}}}), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
    EXPECT_EQ(json_text("x\xff\xc3\xa4"), "\"x\xef\xbf\xbd\xc3\xa4\"");
}

// Folds a text at every width. No line may be longer than the width, and no word of the text may be lost.
TEST(Folded, NoLineIsLongerThanTheWidthAndNothingIsLost) {
    const std::string text = "alpha beta,gamma delta,epsilon,zeta a bb ccc dddd eeeeeeeeeeeeeeeeeeeeeeee f,g h";
    for (std::size_t width = 1; width <= text.size() + 2; ++width) {
        for (const auto& [first, rest] : {std::pair<std::size_t, std::size_t>{0, 0}, {2, 4}, {4, 2}}) {
            const auto lines = split(folded(text, width, first, rest), '\n');
            std::string joined;
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const auto indent = i == 0 ? first : rest;
                EXPECT_EQ(lines[i].find_first_not_of(' '), indent) << width;
                EXPECT_LE(lines[i].size(), std::max(width, indent + 1)) << lines[i];
                EXPECT_NE(lines[i].back(), ' ') << lines[i];
                joined += lines[i].substr(indent);
            }
            auto expected = text;
            std::erase(expected, ' ');
            std::erase(joined, ' ');
            EXPECT_EQ(joined, expected) << width;
        }
    }
    EXPECT_EQ(folded("ab,cd", 3), "ab,\ncd\n");
    EXPECT_EQ(folded("ab,cd", 2), "ab\n,c\nd\n") << "a comma stays within the width";
    EXPECT_EQ(folded("a b,c", 4), "a b,\nc\n");
    EXPECT_EQ(folded("abcd", 4), "abcd\n");
}

TEST(Table, OptionalColumnsAreLeftOutFromTheLastOneOnUntilItFits) {
    Table table({{"a"}, {"bbbb", true}, {"c"}, {"dddd", true}});
    table.add({"1", "2", "3", "4"});
    const std::string all = "a  bbbb  c  dddd\n1     2  3     4\n";
    const std::string without_last = "a  bbbb  c\n1     2  3\n";
    EXPECT_EQ(table.to_text(16), all);
    EXPECT_EQ(table.to_text(15), without_last);
    EXPECT_EQ(table.to_text(10), without_last);
    EXPECT_EQ(table.to_text(9), "a  c\n1  3\n");
}

TEST(Table, AColumnIsAlignedToTheRightIfEachOfItsCellsIsANumberARangeOrNothing) {
    for (const auto& cell :
         std::vector<std::string>{"1", "-", "", "-1.5", "+2.0 %", "1,234", "1.9..2.1", "9.8e+04 us", "1/2"}) {
        const auto text = table({{"x", "heading"}, {"x", cell}});
        EXPECT_EQ(text.substr(text.find('\n') + 1),
                  cell.empty() ? "x\n" : "x  " + std::string(7 > cell.size() ? 7 - cell.size() : 0, ' ') + cell + "\n")
            << cell;
    }
    for (const auto& cell : std::vector<std::string>{"a", "16x16", "+", "--", "1a", ".5"}) {
        const auto text = table({{"x", "heading"}, {"x", cell}});
        EXPECT_EQ(text.substr(text.find('\n') + 1), "x  " + cell + "\n") << cell;
    }
}

}  // namespace
}  // namespace smemtune
