#include "tuner/replay/json_numbers.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

std::string refusal(const std::string& text) {
    try {
        check_numbers(text);
    } catch (const NumberOutOfRange& error) {
        return error.what();
    }
    return "";
}

TEST(JsonNumbers, ThoseThatAreKeptPass) {
    for (const auto* text :
         {"0", "-9223372036854775808", "18446744073709551615", "1.5", "1e300", "123456789012345678901234567890.0",
          "12345678901234567890123456789e0", "2E5", R"({"a": [1, true, null, "99999999999999999999", -1.5e-7]})"}) {
        EXPECT_EQ(refusal(text), "") << text;
    }
}

TEST(JsonNumbers, IntegersBeyond64BitsAndNumbersBeyondDoublesAreNamed) {
    EXPECT_EQ(refusal("18446744073709551616"),
              "holds the integer 18446744073709551616, which 64 bits cannot hold; write it as a text, in quotes");
    EXPECT_EQ(refusal(R"({"a": [{"b": -9223372036854775809}]})"),
              "holds the integer -9223372036854775809, which 64 bits cannot hold; write it as a text, in quotes");
    EXPECT_EQ(refusal("[1, 1e999]"),
              "holds the number 1e999, which is beyond the range of doubles; write Infinity, or repair it");
}

TEST(JsonNumbers, WhatIsNoJsonIsLeftToItsReader) {
    for (const auto* text : {"", "{", "[1,]", "nonsense", "{\"a\": }"}) EXPECT_EQ(refusal(text), "") << text;
    EXPECT_NE(refusal("[99999999999999999999, nonsense"), "") << "the number comes first";
}

}  // namespace
}  // namespace smemtune
