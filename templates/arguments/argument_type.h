// The types of a kernel's arguments: numbers, vectors of 2 to 4 of them, and structs as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smemtune {

/// A type of numbers.
struct NumberType {
    int code = 0;                  ///< in the kernels that fill and compare (tuner/trial/typed/kernels/numbers.h)
    std::string_view name;         ///< "f32"
    std::string_view cpp_name;     ///< "float"
    std::string_view vector_name;  ///< "float", of `float2`
    std::int64_t bytes = 0;
    bool is_floating = false;
    bool is_signed = true;
    int significand_bits = 0;  ///< of a floating type, the hidden bit included
    double least = 0;          ///< of an integer type: the range; of a floating type: the smallest subnormal number
    double most = 0;

    [[nodiscard]] bool is_half() const { return is_floating && bytes == 2; }
    /// A rounded operation is exact within a factor 1 + d, |d| <= u. Only for floating types.
    [[nodiscard]] double unit_roundoff() const;
    /// Whether the type has exactly this value. Floating types have every value, rounded.
    [[nodiscard]] bool holds(double value) const;
};

/// The type of an argument, or of the elements of an array.
struct ArgumentType {
    const NumberType* number = nullptr;
    std::int64_t lanes = 1;
    bool is_struct = false;  ///< `lanes` bytes (u8)

    [[nodiscard]] std::int64_t bytes() const { return number->bytes * lanes; }
    [[nodiscard]] std::string name() const;      ///< "f32x2", "bytes:24"
    [[nodiscard]] std::string cpp_name() const;  ///< "float2"; `void` for a struct
    bool operator==(const ArgumentType&) const = default;
};

/// All types of numbers; the index is NumberType::code.
std::span<const NumberType> number_types();

/// The largest struct in bytes.
constexpr std::int64_t largest_struct = 4096;

/// `name`: "f32", "u8x4", "bytes:24". Throws std::invalid_argument, which lists the known names.
ArgumentType argument_type(std::string_view name);

/// Stores `value` as the type has it; `to` has `type.bytes` bytes. Precondition: type.holds(value).
void store_number(const NumberType& type, double value, std::span<std::byte> to);
/// The number, rounded to 53 bits. `from` has `type.bytes` bytes.
double load_number(const NumberType& type, std::span<const std::byte> from);
/// The number as text, with all its digits. `from` has `type.bytes` bytes.
std::string number_text(const NumberType& type, std::span<const std::byte> from);

}  // namespace smemtune
