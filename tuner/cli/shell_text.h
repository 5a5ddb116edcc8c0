// Quotes command lines for a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace smemtune {

/// `text` as one shell word: in single quotes if a shell would split or change it.
std::string shell_word(const std::string& text);

/// `command` and the quoted `words`, separated by spaces.
std::string shell_text(const std::string& command, const std::vector<std::string>& words);

/// A command of smemtune for a database, in quotes, for messages: `'smemtune db list --db FILE'`.
std::string command_for(const std::filesystem::path& database, const std::string& command);

}  // namespace smemtune
