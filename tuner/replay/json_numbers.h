// The numbers of a JSON file that would not be kept as they are.
#pragma once

#include <stdexcept>
#include <string>

namespace smemtune {

/// Names the number.
struct NumberOutOfRange : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Throws NumberOutOfRange if `text`, as far as it is JSON, has a number beyond the range of doubles (`1e400`), or an
/// integer beyond 64 bits, whose last digits a double would lose.
void check_numbers(const std::string& text);

}  // namespace smemtune
