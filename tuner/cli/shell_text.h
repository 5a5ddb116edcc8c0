// Quotes command lines for a shell.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// `text` as one shell word: in single quotes if a shell would split or change it.
std::string shell_word(const std::string& text);

/// `command` and the quoted `words`, separated by spaces.
std::string shell_text(const std::string& command, const std::vector<std::string>& words);

}  // namespace smemtune
