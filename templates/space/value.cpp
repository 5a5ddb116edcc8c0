#include "templates/space/value.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

namespace smemtune {

namespace {

// Keeps every text that was read, with the text's number as the key, because a number cannot be turned back into its
// text.
struct KnownTexts {
    std::shared_mutex mutex;
    std::map<std::int64_t, std::string> texts;
};
KnownTexts& known_texts() {
    static KnownTexts known;
    return known;
}

// Returns 61 bits of the FNV-1a hash of a text. The hash never changes, because all processes must use the same
// number for a text.
std::uint64_t digest_of(std::string_view text) {
    std::uint64_t digest = 14695981039346656037U;
    for (const auto c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return (digest ^ (digest >> 61U)) & ((std::uint64_t{1} << 61U) - 1);
}

constexpr std::int64_t greatest_text = -(std::int64_t{1} << 61);

}  // namespace

std::int64_t text_value(std::string_view text) {
    const auto value = greatest_text - 1 - static_cast<std::int64_t>(digest_of(text));
    auto& known = known_texts();
    const std::unique_lock lock(known.mutex);
    const auto [found, is_new] = known.texts.emplace(value, text);
    if (!is_new && found->second != text) {
        throw std::invalid_argument("the values '" + found->second + "' and '" + std::string(text) +
                                    "' cannot be told apart; rename one");
    }
    return value;
}

bool is_text_value(std::int64_t value) { return value < greatest_text; }

bool is_value_text(std::string_view text) {
    if (text.empty() || text.back() == ' ') return false;
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
    };
    if (!is_letter(text.front())) {  // the text must be a number with a point or an exponent
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc{} && end == text.data() + text.size() &&
               text.find_first_of(".e") != std::string_view::npos;
    }
    const auto is_allowed = [](char c) {
        return c >= ' ' && c <= '~' && c != ',' && c != '=' && c != '"' && c != '\'' && c != '\\';
    };
    // A comment or a continued line would hide what follows it in configuration.h.
    return text.find("//") == std::string_view::npos && text.find("/*") == std::string_view::npos &&
           std::ranges::all_of(text, is_allowed);
}

std::string value_text(std::int64_t value) {
    if (!is_text_value(value)) return std::to_string(value);
    auto& known = known_texts();
    const std::shared_lock lock(known.mutex);
    const auto found = known.texts.find(value);
    return found == known.texts.end() ? "text" + std::to_string(greatest_text - value) : found->second;
}

}  // namespace smemtune
