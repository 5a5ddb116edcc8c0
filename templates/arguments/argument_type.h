// The types of a kernel's arguments: numbers, vectors of 2 to 4 numbers, and structs as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smemtune {

/// A number type of CUDA C++.
struct NumberType {
    int code = 0;                  ///< the number of the type in tuner/trial/typed/kernels/numbers.h
    std::string_view name;         ///< name in manifests, such as "f32"
    std::string_view cpp_name;     ///< name in C++, such as "float"
    std::string_view vector_name;  ///< name of the type's CUDA vectors without the length: "float" for `float2`
    std::int64_t bytes = 0;
    bool is_floating = false;
    bool is_signed = true;
    int significand_bits = 0;  ///< number of significand bits of a floating type, with the hidden bit
    double least = 0;          ///< integer type: the smallest value; floating type: the smallest subnormal number
    double most = 0;           ///< integer type: the largest value

    [[nodiscard]] bool is_half() const { return is_floating && bytes == 2; }
    /// Returns the unit roundoff u of a floating type: a rounded result is the exact result times 1 + d, with |d| <= u.
    [[nodiscard]] double unit_roundoff() const;
    /// Whether store_number() accepts this value. An integer type must represent it exactly; a floating type rounds it.
    [[nodiscard]] bool holds(double value) const;
};

/// The type of an argument, or of the elements of an array.
struct ArgumentType {
    const NumberType* number = nullptr;
    std::int64_t lanes = 1;
    bool is_struct = false;  ///< whether the type is a struct; its size is `lanes` bytes, and `number` is u8

    [[nodiscard]] std::int64_t bytes() const { return number->bytes * lanes; }
    [[nodiscard]] std::string name() const;      ///< name in manifests, such as "f32x2" or "bytes:24"
    [[nodiscard]] std::string cpp_name() const;  ///< name in C++, such as "float2"; "void" for a struct
    bool operator==(const ArgumentType&) const = default;
};

/// Returns all number types. The index of a type is NumberType::code.
std::span<const NumberType> number_types();

/// The largest size of a struct in bytes.
constexpr std::int64_t largest_struct = 4096;

/// Returns the type with a name such as "f32", "u8x4" or "bytes:24". For an unknown name, throws std::invalid_argument
/// that lists the known names.
ArgumentType argument_type(std::string_view name);

/// Writes `value` as a number of type `type` to `to`, which has `type.bytes` bytes. Precondition: type.holds(value).
void store_number(const NumberType& type, double value, std::span<std::byte> to);
/// Reads a number of type `type` and rounds it to a double. `from` has `type.bytes` bytes.
double load_number(const NumberType& type, std::span<const std::byte> from);
/// Returns a number of type `type` as text, with enough digits to get the same number again when the text is read.
/// `from` has `type.bytes` bytes.
std::string number_text(const NumberType& type, std::span<const std::byte> from);

}  // namespace smemtune
