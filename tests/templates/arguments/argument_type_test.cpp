#include "templates/arguments/argument_type.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
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

// The bit patterns come from IEEE 754-2019, table 3.5, and, for bf16, from the upper half of a float.
TEST(ArgumentType, NumbersOf16BitsAreRoundedToNearestEven) {
    EXPECT_EQ(half_bits_of("f16", 1), 0x3c00);
    EXPECT_EQ(half_bits_of("f16", -2), 0xc000);
    EXPECT_EQ(half_bits_of("f16", 65504), 0x7bff);
    EXPECT_EQ(half_bits_of("f16", 65520), 0x7c00) << "halfway to 65536, which is out of range";
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

TEST(ArgumentType, EachNumberHasItsSizeItsNameInCppItsVectorsAndItsRange) {
    struct Row {
        const char *name, *cpp_name, *pair;
        std::int64_t bytes;
        bool is_floating, is_signed;
    };
    for (const auto& row :
         {Row{"f64", "double", "double2", 8, true, true}, Row{"f32", "float", "float2", 4, true, true},
          Row{"f16", "__half", "__half2", 2, true, true}, Row{"bf16", "__nv_bfloat16", "__nv_bfloat162", 2, true, true},
          Row{"i64", "long long", "longlong2", 8, false, true},
          Row{"u64", "unsigned long long", "ulonglong2", 8, false, false}, Row{"i32", "int", "int2", 4, false, true},
          Row{"u32", "unsigned", "uint2", 4, false, false}, Row{"i16", "short", "short2", 2, false, true},
          Row{"u16", "unsigned short", "ushort2", 2, false, false}, Row{"i8", "signed char", "char2", 1, false, true},
          Row{"u8", "unsigned char", "uchar2", 1, false, false}}) {
        const auto type = argument_type(row.name);
        EXPECT_EQ(type.name(), row.name);
        EXPECT_EQ(type.cpp_name(), row.cpp_name);
        EXPECT_EQ(type.lanes, 1);
        EXPECT_FALSE(type.is_struct);
        EXPECT_EQ(type.bytes(), row.bytes);
        EXPECT_EQ(type.number->is_floating, row.is_floating);
        EXPECT_EQ(type.number->is_signed, row.is_signed);
        EXPECT_EQ(type.number->is_half(), row.is_floating && row.bytes == 2);
        const auto pair = argument_type(std::string(row.name) + "x2");
        EXPECT_EQ(pair.cpp_name(), row.pair);
        EXPECT_EQ(pair.name(), std::string(row.name) + "x2");
        EXPECT_EQ(pair.bytes(), 2 * row.bytes);
        if (row.is_floating) continue;
        const double most = std::exp2(static_cast<double>(8 * row.bytes - (row.is_signed ? 1 : 0)));
        const auto& number = *type.number;
        if (row.bytes < 8) {
            EXPECT_TRUE(number.holds(most - 1)) << row.name;
            EXPECT_FALSE(number.holds(most)) << row.name;
        }
        EXPECT_TRUE(number.holds(row.is_signed ? -most : 0)) << row.name;
        EXPECT_FALSE(number.holds(row.is_signed ? -most - 2048 : -1)) << row.name;
        EXPECT_FALSE(number.holds(0.5)) << row.name;
    }
    for (const auto* name : {"i64", "u64"}) {
        EXPECT_TRUE(argument_type(name).number->holds(0x1p63 - 1024));
        EXPECT_FALSE(argument_type(name).number->holds(0x1p63)) << "manifests hold no larger numbers";
    }
    EXPECT_EQ(argument_type("f64").number->unit_roundoff(), 0x1p-53);
    EXPECT_EQ(argument_type("f32").number->unit_roundoff(), 0x1p-24);
    EXPECT_EQ(argument_type("f16").number->unit_roundoff(), 0x1p-11);
    EXPECT_EQ(argument_type("bf16").number->unit_roundoff(), 0x1p-8);
}

TEST(ArgumentType, AStructHasASizeFrom1To4096Bytes) {
    for (const int bytes : {1, 24, 4096}) {
        const auto type = argument_type("bytes:" + std::to_string(bytes));
        EXPECT_TRUE(type.is_struct);
        EXPECT_EQ(type.bytes(), bytes);
        EXPECT_EQ(type.name(), "bytes:" + std::to_string(bytes));
        EXPECT_EQ(type.cpp_name(), "void");
    }
    for (const std::string name : {"bytes:", "bytes:0", "bytes:4097", "bytes:-1", "bytes:8x", "bytes:x", "bytes: 8"}) {
        try {
            (void)argument_type(name);
            ADD_FAILURE() << name;
        } catch (const std::invalid_argument& error) {
            EXPECT_EQ(error.what(),
                      "type '" + name + "' is no struct of 1 to 4096 bytes; write sizeof, as in bytes:24");
        }
    }
}

// In f16, the bits s eeeee ffffffffff mean (-1)^s 2^(e-15) 1.f, or (-1)^s 2^-14 0.f for e = 0, or an infinity or NaN
// for e = 31 (IEEE 754). bf16 is the upper half of a float.
TEST(ArgumentType, EveryNumberOf16BitsIsReadAndWritten) {
    const auto& f16 = *argument_type("f16").number;
    const auto& bf16 = *argument_type("bf16").number;
    for (int pattern = 0; pattern < 65536; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        const auto upper = static_cast<std::uint32_t>(pattern) << 16U;
        float wide = 0;
        std::memcpy(&wide, &upper, sizeof wide);
        const int exponent = pattern >> 10 & 31;
        const int fraction = pattern & 1023;
        const double sign = pattern >> 15 != 0 ? -1 : 1;
        const double half = exponent == 31  ? (fraction == 0 ? sign * INFINITY : std::nan(""))
                            : exponent == 0 ? sign * fraction * 0x1p-24
                                            : sign * (1024 + fraction) * std::exp2(exponent - 25);
        for (const auto& [type, wanted] : {std::pair{&f16, half}, {&bf16, static_cast<double>(wide)}}) {
            const auto value = load_number(*type, std::as_bytes(std::span(&bits, 1)));
            if (std::isnan(wanted)) {
                ASSERT_TRUE(std::isnan(value)) << pattern;
                continue;
            }
            ASSERT_EQ(value, wanted) << type->name << " " << pattern;
            for (const double factor : {1.0, 1 + 0x1p-40, 1 - 0x1p-40}) {  // near numbers round to `value`
                std::uint16_t written = 0;
                store_number(*type, value * factor, std::as_writable_bytes(std::span(&written, 1)));
                ASSERT_EQ(written, bits) << type->name << " " << factor;
            }
        }
    }
}

TEST(ArgumentType, ANumberBeyondTheRangeOf16BitsIsStoredAsInfinity) {
    const auto bits = [](const char* type, double value) {
        std::uint16_t stored = 0;
        store_number(*argument_type(type).number, value, std::as_writable_bytes(std::span(&stored, 1)));
        return stored;
    };
    // The largest number of f16 is 65504, and the next number would be 65536. From 65520 on, half way between the two,
    // numbers are stored as infinity.
    EXPECT_EQ(bits("f16", 65519), 0x7bff);
    for (const double value : {65520.0, 65536.0, 65568.0, 65600.0, 131072.0, 1e9, 1e300}) {
        EXPECT_EQ(bits("f16", value), 0x7c00) << value;
        EXPECT_EQ(bits("f16", -value), 0xfc00) << value;
    }
    EXPECT_EQ(bits("bf16", 0x1.fep127), 0x7f7f);
    for (const double value : {0x1.ffp127, 0x1p128, 0x1.02p128, 1e300}) EXPECT_EQ(bits("bf16", value), 0x7f80) << value;
}

}  // namespace
}  // namespace smemtune
