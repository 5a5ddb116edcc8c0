// Finds the word that a misspelled one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

/// The number of letters to insert, delete, replace or swap with their neighbour that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that `word` most likely means: the nearest one by edit distance, at most a third of the letters
/// away, or else the only one that begins with it. Empty when there is none. Upper and lower case are alike.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// Ends a message's clause about an unknown word: "; did you mean 'tiled'?", or "." when no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace smemtune
