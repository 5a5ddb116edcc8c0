#include "templates/arguments/argument_type.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace smemtune {
namespace {

std::string stored_text(const std::string& name, double value) {
    const auto type = argument_type(name);
    std::array<std::byte, 8> bytes{};
    store_number(*type.number, value, bytes);
    const auto loaded = load_number(*type.number, bytes);
    EXPECT_TRUE(loaded == value || std::isnan(value) || std::isinf(loaded) ||
                std::abs(loaded - value) <= std::abs(value) * 0.005 + 1e-7)
        << name << " " << value;
    return number_text(*type.number, bytes);
}

std::uint16_t half_bits_of(const std::string& name, double value) {
    std::array<std::byte, 8> bytes{};
    store_number(*argument_type(name).number, value, bytes);
    return static_cast<std::uint16_t>(std::to_integer<int>(bytes[0]) | std::to_integer<int>(bytes[1]) << 8);
}

TEST(ArgumentType, HasNameSizeAndItsNameInCpp) {
    EXPECT_EQ(argument_type("f64").cpp_name(), "double");
    EXPECT_EQ(argument_type("u8x4").cpp_name(), "uchar4");
    EXPECT_EQ(argument_type("u8x4").bytes(), 4);
    EXPECT_EQ(argument_type("f32x3").name(), "f32x3");
    EXPECT_EQ(argument_type("f32x3").bytes(), 12);
    EXPECT_EQ(argument_type("f16x2").cpp_name(), "__half2");
    EXPECT_EQ(argument_type("bf16x2").cpp_name(), "__nv_bfloat162");
    for (const auto& type : number_types()) {
        EXPECT_EQ(type.code, &type - number_types().data()) << type.name << ": kernels know the types by their place";
    }
}

TEST(ArgumentType, UnknownNamesAreRefusedWithTheKnownOnes) {
    for (const std::string name : {"float", "f32x", "f32x1", "f32x5", "f32x22", "f16x4", "x2", ""}) {
        try {
            (void)argument_type(name);
            ADD_FAILURE() << name;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("type '" + name + "' is unknown; known: f64 f32 f16 bf16"));
        }
    }
}

TEST(ArgumentType, NumbersAreStoredAsTheirTypeHasThem) {
    EXPECT_EQ(stored_text("f64", 0.1), "0.10000000000000001");
    EXPECT_EQ(stored_text("f32", 0.1), "0.100000001");
    EXPECT_EQ(stored_text("f16", 0.1), "0.099976");
    EXPECT_EQ(stored_text("bf16", 0.1), "0.1001");
    EXPECT_EQ(stored_text("i64", -9007199254740992.0), "-9007199254740992");
    EXPECT_EQ(stored_text("u64", 0x1p62), "4611686018427387904");
    EXPECT_EQ(stored_text("i32", -2147483648.0), "-2147483648");
    EXPECT_EQ(stored_text("u32", 4294967295.0), "4294967295");
    EXPECT_EQ(stored_text("i16", -32768), "-32768");
    EXPECT_EQ(stored_text("u16", 65535), "65535");
    EXPECT_EQ(stored_text("i8", -128), "-128");
    EXPECT_EQ(stored_text("u8", 255), "255");
}

// The patterns are those of IEEE 754-2019, table 3.5, and of the upper half of a float.
TEST(ArgumentType, NumbersOf16BitsAreRoundedToNearestEven) {
    EXPECT_EQ(half_bits_of("f16", 1), 0x3c00);
    EXPECT_EQ(half_bits_of("f16", -2), 0xc000);
    EXPECT_EQ(half_bits_of("f16", 65504), 0x7bff);
    EXPECT_EQ(half_bits_of("f16", 65520), 0x7c00) << "halfway to what has no place is an infinity";
    EXPECT_EQ(half_bits_of("f16", 0x1p-24), 0x0001);
    EXPECT_EQ(half_bits_of("f16", 0x1p-25), 0x0000) << "a tie to even";
    EXPECT_EQ(half_bits_of("f16", 0x1.8p-24), 0x0002) << "a tie to even";
    EXPECT_EQ(half_bits_of("f16", 0x1p-14), 0x0400);
    EXPECT_EQ(half_bits_of("f16", 1 + 0x1p-11), 0x3c00) << "a tie to even";
    EXPECT_EQ(half_bits_of("f16", 1 + 3 * 0x1p-11), 0x3c02) << "a tie to even";
    EXPECT_EQ(half_bits_of("bf16", 1), 0x3f80);
    EXPECT_EQ(half_bits_of("bf16", -std::numeric_limits<double>::infinity()), 0xff80);
    EXPECT_EQ(half_bits_of("bf16", 1 + 0x1p-8), 0x3f80);
    EXPECT_EQ(half_bits_of("bf16", 1 + 3 * 0x1p-8), 0x3f82);
    EXPECT_EQ(half_bits_of("f16", std::nan("")), 0x7e00);
    EXPECT_EQ(half_bits_of("f16", -0.0), 0x8000);
    EXPECT_EQ(stored_text("f16", std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(stored_text("f16", 0x1p-24), "5.9605e-08");
}

TEST(ArgumentType, KnowsWhichNumbersItHas) {
    const auto holds = [](const std::string& name, double value) { return argument_type(name).number->holds(value); };
    EXPECT_TRUE(holds("u8", 255));
    EXPECT_FALSE(holds("u8", 256));
    EXPECT_FALSE(holds("u8", -1));
    EXPECT_FALSE(holds("i32", 0.5));
    EXPECT_TRUE(holds("i8", -128));
    EXPECT_TRUE(holds("f16", 1e9)) << "as an infinity";
}

}  // namespace
}  // namespace smemtune
