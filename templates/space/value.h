// Values of parameters that are not whole numbers, such as `float4` or `0.5`. Each such value is represented by a
// number outside the range of int.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smemtune {

/// Returns the number that represents a text. The number is the same in every process and lies outside the range of
/// int, so it differs from every whole-number value. Throws std::invalid_argument if another text of this process has
/// the same number.
std::int64_t text_value(std::string_view text);

/// Whether the number `value` represents a text.
bool is_text_value(std::int64_t value);

/// Whether a parameter may have this text as a value. Allowed are numbers with a point or an exponent, and printable
/// ASCII that begins with a letter, `_` or `:`. Not allowed are quotes, `,`, `=`, backslashes, comments, and a space at
/// the end.
bool is_value_text(std::string_view text);

/// Returns the value as configurations write it, such as `16`. For a number from text_value(), returns the text.
std::string value_text(std::int64_t value);

}  // namespace smemtune
