// Command lines as text that a shell takes.
#pragma once

#include <string>
#include <vector>

namespace smemtune {

/// `text` as one word: in single quotes where a shell would take it apart or change it.
std::string shell_word(const std::string& text);

/// `command` and the words behind it.
std::string shell_text(const std::string& command, const std::vector<std::string>& words);

}  // namespace smemtune
