// Finds numbers of a JSON file that the parser would change.
#pragma once

#include <stdexcept>
#include <string>

namespace smemtune {

/// A number that the parser would change. The message names the number.
struct NumberOutOfRange : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Throws NumberOutOfRange if `text` has a number beyond the range of doubles (`1e400`), or an integer beyond 64 bits,
/// whose last digits a double would lose. Does not check what follows a syntax error.
void check_numbers(const std::string& text);

}  // namespace smemtune
