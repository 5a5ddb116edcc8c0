#include "tuner/cli/shell_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace smemtune {

std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_./,-+:=").find(c) != std::string_view::npos;
    });
    if (plain) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string shell_text(const std::string& command, const std::vector<std::string>& words) {
    auto text = command;
    for (const auto& word : words) text += " " + shell_word(word);
    return text;
}

std::string command_for(const std::filesystem::path& database, const std::string& command) {
    return "'smemtune " + command + " --db " + shell_word(database.string()) + "'";
}

}  // namespace smemtune
