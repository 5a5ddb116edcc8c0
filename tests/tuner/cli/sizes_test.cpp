#include "tuner/cli/sizes.h"

#include <gmock/gmock.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using Sizes = std::vector<std::vector<std::int64_t>>;
using ::testing::HasSubstr;

const SizeForm gemm_form{{"M", "N", "K"}};
const SizeForm batched_form{{"BATCH", "M", "N", "K"}, {"BATCH"}};

std::vector<std::int64_t> cubes(const std::string& text) {
    std::vector<std::int64_t> values;
    for (const auto& size : parse_sizes(text, gemm_form)) {
        EXPECT_EQ(size, (std::vector<std::int64_t>(3, size.front()))) << "a single number stands for all extents";
        values.push_back(size.front());
    }
    return values;
}

TEST(Sizes, ARangeDoubles) {
    EXPECT_EQ(cubes("512..8192"), (std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}));
    EXPECT_EQ(cubes("7..7"), (std::vector<std::int64_t>{7}));
}

TEST(Sizes, ARangeThatDoublingDoesNotHitEndsBelowItsEnd) {
    EXPECT_EQ(cubes("512..1000"), (std::vector<std::int64_t>{512}));
    EXPECT_EQ(cubes("3..13"), (std::vector<std::int64_t>{3, 6, 12}));
}

TEST(Sizes, ARangeWithAColonSteps) {
    EXPECT_EQ(cubes("512..2048:512"), (std::vector<std::int64_t>{512, 1024, 1536, 2048}));
    EXPECT_EQ(cubes("1..10:4"), (std::vector<std::int64_t>{1, 5, 9}));
}

TEST(Sizes, AListKeepsItsOrder) { EXPECT_EQ(cubes("1000,4095,17"), (std::vector<std::int64_t>{1000, 4095, 17})); }

TEST(Sizes, AProductNamesEveryExtent) {
    EXPECT_EQ(parse_sizes("4096x11008x128", gemm_form), (Sizes{{4096, 11008, 128}}));
    EXPECT_EQ(parse_sizes("3x5", {{"M", "N"}}), (Sizes{{3, 5}}));
}

TEST(Sizes, FormsCombineWithCommas) {
    EXPECT_EQ(parse_sizes("8..16,5,1x2x3,20..30:10", gemm_form),
              (Sizes{{8, 8, 8}, {16, 16, 16}, {5, 5, 5}, {1, 2, 3}, {20, 20, 20}, {30, 30, 30}}));
}

TEST(Sizes, NoSizeComesTwice) { EXPECT_EQ(cubes("64,32..128,64x64x64,32"), (std::vector<std::int64_t>{64, 32, 128})); }

TEST(Sizes, AnOperationOfOneExtentTakesNumbersOnly) {
    EXPECT_EQ(parse_sizes("8,16", {{"N"}}), (Sizes{{8}, {16}}));
    EXPECT_THAT(complaint([] { parse_sizes("8x8", {{"N"}}); }), HasSubstr("has 2 extents where 1 are needed"));
}

TEST(Sizes, OfABatchNameItsCountFirstAndOneNumberIsABatchOfOne) {
    EXPECT_EQ(parse_sizes("16x512x256x128,64..128", batched_form),
              (Sizes{{16, 512, 256, 128}, {1, 64, 64, 64}, {1, 128, 128, 128}}));
    EXPECT_THAT(complaint([] { parse_sizes("512x512x512", batched_form); }),
                HasSubstr("has 3 extents where 4 are needed, BATCHxMxNxK; write for example"));
    EXPECT_THAT(complaint([] { parse_sizes("512x512x512", batched_form); }), HasSubstr("or 16x512x512x512"));
}

TEST(Sizes, OfAnOperationAreThoseOfItsExtents) {
    for (const auto& kernel : builtin_templates()) {
        const auto form = size_form(kernel.operation);
        EXPECT_EQ(form.names, kernel.operation.extents);
        EXPECT_EQ(form.counts.contains("BATCH"), kernel.operation.name == "batched_gemm") << kernel.name;
        EXPECT_LE(form.counts.size(), 1U) << kernel.name;
    }
}

TEST(Sizes, ChosenWithoutAWordFitTheOperation) {
    for (const bool host : {true, false}) {
        EXPECT_GT(parse_sizes(automatic_sizes(gemm_form, host), gemm_form).size(), 1U);
        for (const auto& size : parse_sizes(automatic_sizes(batched_form, host), batched_form)) {
            EXPECT_GT(size.front(), 1) << "a batch of several";
            EXPECT_LE(size.back(), 512) << "that are small";
        }
    }
}

TEST(Sizes, TheLargestExtentIsThatOfAnInt) {
    EXPECT_EQ(cubes("2147483647"), (std::vector<std::int64_t>{2147483647}));
    EXPECT_EQ(cubes("1073741824..2147483647").size(), 1U) << "doubling past the end must not overflow";
}

struct Malformed {
    const char* text;
    const char* part;  // the part of `text` that the message quotes
    const char* why;
};

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << '"' << malformed.text << '"'; }

class MalformedSizes : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedSizes, AreNamedWithAnExampleOfWhatFits) {
    const auto message = complaint([] { parse_sizes(GetParam().text, gemm_form); });
    EXPECT_THAT(message, HasSubstr("--sizes '" + std::string(GetParam().part) + "': "));
    EXPECT_THAT(message, HasSubstr(GetParam().why));
    EXPECT_THAT(message, HasSubstr("write for example 512..8192"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, MalformedSizes,
    ::testing::Values(
        Malformed{"", "", "an entry of the list is empty"}, Malformed{",", ",", "an entry of the list is empty"},
        Malformed{"512,", "512,", "an entry of the list is empty"},
        Malformed{"512,,8", "512,,8", "an entry of the list is empty"},
        Malformed{"0", "0", "0 is not in 1..2147483647"}, Malformed{"-4", "-4", "-4 is not in 1..2147483647"},
        Malformed{"2147483648", "2147483648", "is not in"},
        Malformed{"99999999999999999999", "99999999999999999999", "is not in"},
        Malformed{"abc", "abc", "'abc' is not a whole number"}, Malformed{"12k", "12k", "'12k'"},
        Malformed{"1.5", "1.5", "'1.5'"}, Malformed{" 512", " 512", "' 512'"}, Malformed{"+4", "+4", "'+4'"},
        Malformed{"0x10x10", "0x10x10", "0 is not in"}, Malformed{"4x4", "4x4", "has 2 extents where 3 are needed"},
        Malformed{"4x4x4x4", "4x4x4x4", "has 4 extents"}, Malformed{"4xx4", "4xx4", "'' is not a whole number"},
        Malformed{"4x4x", "4x4x", "'' is not a whole number"}, Malformed{"8..", "8..", "'' is not a whole number"},
        Malformed{"..8", "..8", "'' is not a whole number"}, Malformed{"8...16", "8...16", "'.16'"},
        Malformed{"0..8", "0..8", "0 is not in"}, Malformed{"8..16:0", "8..16:0", "0 is not in"},
        Malformed{"8..16:", "8..16:", "'' is not a whole number"}, Malformed{"8..16:-1", "8..16:-1", "-1 is not in"},
        Malformed{"8:2", "8:2", "'8:2' is not a whole number"},
        Malformed{"1..2147483647:1", "1..2147483647:1", "names more than 100000 sizes"},
        Malformed{"1..100000:1,100001", "1..100000:1,100001", "names more than 100000 sizes"},
        Malformed{"8,16..x,32", "16..x", "'x' is not a whole number"}));

TEST(Sizes, OfARangeThatRunsBackwardsAreNamedWithTheRightOrder) {
    EXPECT_EQ(complaint([] { parse_sizes("16,8..4", gemm_form); }),
              "--sizes 8..4: the range runs backwards; write 4..8");
    EXPECT_EQ(complaint([] { parse_sizes("8..4:2", gemm_form); }),
              "--sizes 8..4:2: the range runs backwards; write 4..8:2");
}

TEST(StoredSizes, OfANumberAreThoseOfEveryOperation) {
    const SizeForm batched{.names = {"BATCH", "M", "N", "K"}, .counts = {"BATCH"}};
    EXPECT_EQ(stored_sizes("512", {gemm_form, batched}), (std::vector<std::string>{"512x512x512", "1x512x512x512"}));
    EXPECT_EQ(stored_sizes("64..128,7", {gemm_form}), (std::vector<std::string>{"64x64x64", "128x128x128", "7x7x7"}));
    EXPECT_EQ(stored_sizes("624x6848x512,512x*", {gemm_form}), (std::vector<std::string>{"624x6848x512", "512x*"}));
    EXPECT_TRUE(stored_sizes("", {gemm_form}).empty()) << "no filter";
    EXPECT_NE(complaint([] { stored_sizes("abc", {gemm_form}); }), "");
}

// If each size were compared with all sizes before it, 100,000 sizes would take minutes.
TEST(Sizes, AsManyAsAreAllowedAreRead) {
    const SizeForm form{.names = {"M"}, .counts = {}};
    EXPECT_EQ(parse_sizes("1..100000:1,7", form).size(), 100'000U) << "7 is there already";
    EXPECT_EQ(stored_sizes("1..100000:1", {form}).size(), 100'000U);
    EXPECT_THROW(stored_sizes("1..100000:1,7", {form}), std::invalid_argument);
    EXPECT_THROW(stored_sizes("1..100000:1", {form, form}), std::invalid_argument);
}

}  // namespace
}  // namespace smemtune
