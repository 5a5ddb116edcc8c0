#include "templates/arguments/argument_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace smemtune {

namespace {

// The order of the types must be that of tuner/trial/typed/kernels/numbers.h. The names must not change, because hashes
// contain them. The ranges of i64 and u64 end at 2^63 - 1024, the largest double below 2^63, because manifests give
// values as doubles.
constexpr std::array types{
    NumberType{0, "f64", "double", "double", 8, true, true, 53, 0x1p-1074},
    NumberType{1, "f32", "float", "float", 4, true, true, 24, 0x1p-149},
    NumberType{2, "f16", "__half", "__half", 2, true, true, 11, 0x1p-24},
    NumberType{3, "bf16", "__nv_bfloat16", "__nv_bfloat16", 2, true, true, 8, 0x1p-133},
    NumberType{4, "i64", "long long", "longlong", 8, false, true, 0, -0x1p63, 0x1p63 - 1024},
    NumberType{5, "u64", "unsigned long long", "ulonglong", 8, false, false, 0, 0, 0x1p63 - 1024},
    NumberType{6, "i32", "int", "int", 4, false, true, 0, -0x1p31, 0x1p31 - 1},
    NumberType{7, "u32", "unsigned", "uint", 4, false, false, 0, 0, 0x1p32 - 1},
    NumberType{8, "i16", "short", "short", 2, false, true, 0, -32768, 32767},
    NumberType{9, "u16", "unsigned short", "ushort", 2, false, false, 0, 0, 65535},
    NumberType{10, "i8", "signed char", "char", 1, false, true, 0, -128, 127},
    NumberType{11, "u8", "unsigned char", "uchar", 1, false, false, 0, 0, 255},
};

// How many bits the exponent and the fraction of a 16-bit floating type have.
struct HalfFormat {
    int exponent_bits, fraction_bits;
};
HalfFormat half_format(const NumberType& type) { return {16 - type.significand_bits, type.significand_bits - 1}; }

std::uint16_t to_half(const NumberType& type, double value) {
    const auto [exponent_bits, fraction_bits] = half_format(type);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | (1 << (fraction_bits - 1)));
    const auto magnitude = std::abs(value);
    if (magnitude == 0 || std::isinf(magnitude))
        return static_cast<std::uint16_t>(sign | (magnitude == 0 ? 0 : infinity));
    // Subnormal numbers have the spacing of the smallest normal numbers.
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const auto steps = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));  // rounds ties to even
    const auto encoded = steps + std::ldexp(exponent + bias - 1, fraction_bits);
    return static_cast<std::uint16_t>(sign | (encoded >= infinity ? infinity : static_cast<std::uint16_t>(encoded)));
}

double from_half(const NumberType& type, std::uint16_t bits) {
    const auto [exponent_bits, fraction_bits] = half_format(type);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits & 0x7fff) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    const int whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    return sign * std::ldexp(whole, std::max(exponent, 1) - bias - fraction_bits);
}

template <class T>
void store_as(T value, std::span<std::byte> to) {
    std::memcpy(to.data(), &value, sizeof value);
}

template <class T>
T load_as(std::span<const std::byte> from) {
    T value{};
    std::memcpy(&value, from.data(), sizeof value);
    return value;
}

std::string floating_text(double value, int digits) {
    std::array<char, 40> text{};
    (void)std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

// Parses the size of a struct, such as the 24 of `bytes:24`. Returns 0 if `text` is not a valid size.
std::int64_t struct_bytes(std::string_view text) {
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && bytes >= 1 && bytes <= largest_struct ? bytes : 0;
}

}  // namespace

double NumberType::unit_roundoff() const { return std::ldexp(1.0, -significand_bits); }

bool NumberType::holds(double value) const {
    if (is_floating) return true;
    return value == std::trunc(value) && value >= least && value <= most;
}

std::string ArgumentType::name() const {
    if (is_struct) return "bytes:" + std::to_string(lanes);
    return std::string(number->name) + (lanes == 1 ? "" : "x" + std::to_string(lanes));
}

std::string ArgumentType::cpp_name() const {
    if (is_struct) return "void";
    if (lanes == 1) return std::string(number->cpp_name);
    const std::string vector(number->name == "bf16" ? "__nv_bfloat16" : number->vector_name);
    return number->name == "bf16" ? "__nv_bfloat162" : vector + std::to_string(lanes);
}

std::span<const NumberType> number_types() { return types; }

ArgumentType argument_type(std::string_view name) {
    constexpr std::string_view structs = "bytes:";
    if (name.starts_with(structs)) {
        if (const auto bytes = struct_bytes(name.substr(structs.size())); bytes > 0) {
            return {std::ranges::find(types, "u8", &NumberType::name), bytes, true};
        }
        throw std::invalid_argument("type '" + std::string(name) + "' is no struct of 1 to " +
                                    std::to_string(largest_struct) + " bytes; write sizeof, as in bytes:24");
    }
    const auto cross = name.find('x');
    const auto* number = std::ranges::find(types, name.substr(0, cross), &NumberType::name);
    if (number != types.end()) {
        if (cross == std::string_view::npos) return {number, 1};
        const auto lanes = name.substr(cross + 1);
        const bool is_vector = lanes.size() == 1 && lanes[0] >= '2' && lanes[0] <= (number->is_half() ? '2' : '4');
        if (is_vector) return {number, lanes[0] - '0'};
    }
    std::string known;
    for (const auto& type : types) known += " " + std::string(type.name);
    throw std::invalid_argument(
        "type '" + std::string(name) + "' is unknown; known:" + known +
        ", vectors of 2 to 4 such as f32x2 (of f16 and bf16: of 2), and structs such as bytes:24");
}

void store_number(const NumberType& type, double value, std::span<std::byte> to) {
    switch (type.code) {
        case 0: return store_as(value, to);
        case 1: return store_as(static_cast<float>(value), to);
        case 2:
        case 3: return store_as(to_half(type, value), to);
        case 5: return store_as(static_cast<std::uint64_t>(value), to);
        default: break;
    }
    // In two's complement, the low bytes of an integer are the same integer in a shorter type.
    static_assert(std::endian::native == std::endian::little);
    const auto whole = static_cast<std::int64_t>(value);
    std::memcpy(to.data(), &whole, static_cast<std::size_t>(type.bytes));
}

double load_number(const NumberType& type, std::span<const std::byte> from) {
    switch (type.code) {
        case 0: return load_as<double>(from);
        case 1: return static_cast<double>(load_as<float>(from));
        case 2:
        case 3: return from_half(type, load_as<std::uint16_t>(from));
        case 4: return static_cast<double>(load_as<std::int64_t>(from));
        case 5: return static_cast<double>(load_as<std::uint64_t>(from));
        case 6: return load_as<std::int32_t>(from);
        case 7: return load_as<std::uint32_t>(from);
        case 8: return load_as<std::int16_t>(from);
        case 9: return load_as<std::uint16_t>(from);
        case 10: return load_as<std::int8_t>(from);
        default: return load_as<std::uint8_t>(from);
    }
}

std::string number_text(const NumberType& type, std::span<const std::byte> from) {
    switch (type.code) {
        case 0: return floating_text(load_as<double>(from), 17);
        case 1: return floating_text(static_cast<double>(load_as<float>(from)), 9);
        case 2: return floating_text(from_half(type, load_as<std::uint16_t>(from)), 5);
        case 3: return floating_text(from_half(type, load_as<std::uint16_t>(from)), 4);
        case 4: return std::to_string(load_as<std::int64_t>(from));
        case 5: return std::to_string(load_as<std::uint64_t>(from));
        case 6: return std::to_string(load_as<std::int32_t>(from));
        case 7: return std::to_string(load_as<std::uint32_t>(from));
        case 8: return std::to_string(load_as<std::int16_t>(from));
        case 9: return std::to_string(load_as<std::uint16_t>(from));
        case 10: return std::to_string(load_as<std::int8_t>(from));
        default: return std::to_string(load_as<std::uint8_t>(from));
    }
}

}  // namespace smemtune
