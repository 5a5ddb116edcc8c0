// Values of parameters that are not whole numbers, such as `float4` or `0.5`. Each gets a number outside int's range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smemtune {

/// A number that stands for a text: the same one in every process. Distinct from all numbers that a parameter may have.
/// Throws std::invalid_argument if another text of this process has the same number.
std::int64_t text_value(std::string_view text);

/// Whether `value` stands for a text.
bool is_text_value(std::int64_t value);

/// Whether a parameter may have this text as a value: a number with a point or an exponent; or printable ASCII that
/// begins with a letter, `_` or `:`, without quotes, `,`, `=`, backslashes, comments and a space at its end.
bool is_value_text(std::string_view text);

/// As configurations write it: `16`, or the text that text_value was given.
std::string value_text(std::int64_t value);

}  // namespace smemtune
