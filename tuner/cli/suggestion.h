// Finds the known word closest to a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

/// The edit distance: the fewest letters to insert, delete, replace or swap with a neighbour that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that `word` most likely means: the nearest one by edit distance, at most a third of the letters away;
/// else the only one that begins with `word`. Empty if there is none. Ignores case.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// The end of a message about an unknown word: "; did you mean 'tiled'?", or "." if no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace smemtune
