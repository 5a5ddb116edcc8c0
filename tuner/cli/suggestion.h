// Finds the known word closest to a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

/// The edit distance: the least number of steps that turn `a` into `b`. A step inserts, deletes or replaces a letter,
/// or swaps two neighbouring letters.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that `word` most likely means; empty if there is none. It is the nearest word by edit distance, if
/// the distance is at most 1 or at most a third of the length of `word`. If no word is that near, it is the known
/// word that begins with `word`, if there is exactly one. Ignores case.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// The end of a message about an unknown word: "; did you mean 'tiled'?", or "." if no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace smemtune
