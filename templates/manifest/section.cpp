#include "templates/manifest/section.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

#include "templates/manifest/catalog.h"

namespace smemtune {

std::string Names::expand(const std::string& text) const {
    const auto begins_name = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const auto in_name = [&](char c) {
        return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    };
    std::string result;
    for (auto at = text.begin(); at != text.end();) {
        if (*at == '"' || *at == '\'') {  // a quoted text is copied unchanged
            const auto close = std::find(at + 1, text.end(), *at);
            result.append(at, close);
            at = close;
            if (at != text.end()) result += *at++;
            continue;
        }
        const auto end = std::find_if_not(at, text.end(), in_name);  // a number is copied as a word, too
        const std::string word(at, end);
        const auto found = derived.find(word);
        result += found == derived.end() ? word : "(" + found->second + ")";
        at = end;
        if (at != text.end()) result += *at++;
        // If each derived value uses the previous derived value twice, the text doubles each time. The limit stops this
        // growth.
        if (result.size() > longest_expression) {
            throw ExpressionError("expression '" + text + "' has more than " + std::to_string(longest_expression) +
                                  " characters once its [[derived]] names are written out; use fewer of them");
        }
    }
    return result;
}

bool is_identifier(const std::string& text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is_int(std::int64_t value) { return value >= -2147483647 && value <= 2147483647; }

namespace {

bool breaks_an_assertion(std::string_view text) {
    try {
        (void)toml::parse(text);
        return false;
    } catch (const toml::parse_error&) {
        return false;
    } catch (const TomlAssertion&) {
        return true;
    }
}

// Returns the number of the line that violates an assertion of toml++, which gives no position itself. The parser reads
// forwards. Therefore the first n lines alone violate the assertion if and only if they include this line.
std::size_t line_of_assertion(std::string_view text) {
    std::vector<std::size_t> ends;
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ends.push_back(at + 1);
    const auto first =
        std::ranges::partition_point(ends, [&](std::size_t end) { return !breaks_an_assertion(text.substr(0, end)); });
    return static_cast<std::size_t>(first - ends.begin()) + 1;
}

}  // namespace

toml::table parse_toml(const std::string& path, const std::string& text) {
    const auto limit = [&](std::size_t count, std::size_t most, const char* what) {
        if (count <= most) return;
        throw ManifestError(path + ":1: the manifest has " + std::to_string(count) + what + ", more than " +
                            std::to_string(most));
    };
    limit(text.size(), longest_manifest, " bytes");
    // The parser recurses once for each part of a key such as a.b.c and does not limit the number of parts. The limit
    // on dots keeps the parser from overflowing the stack.
    limit(static_cast<std::size_t>(std::ranges::count(text, '.')), most_dots, " dots");
    try {
        return toml::parse(text, path);
    } catch (const toml::parse_error& error) {
        Section::fail(path, error.source(), "not valid TOML: " + std::string(error.description()));
    } catch (const TomlAssertion&) {
        throw ManifestError(path + ":" + std::to_string(line_of_assertion(text)) +
                            ": not valid TOML: the parser cannot continue here; check the syntax of this line");
    }
}

void Section::fail(const std::string& path, const toml::source_region& where, const std::string& what) {
    // For an inherited entry, the message names the manifest in which the entry was written.
    throw ManifestError((where.path ? *where.path : path) + ":" + std::to_string(where.begin.line) + ": " + what);
}

void Section::fail_at(const std::string& key, const std::string& what) const {
    const auto* node = table_.get(key);
    fail(path_, node != nullptr ? node->source() : table_.source(), title_ + " " + what);
}

void Section::allow_only(const std::set<std::string>& keys) const {
    for (const auto& [key, node] : table_) {
        if (keys.contains(std::string(key.str()))) continue;
        std::string known;
        for (const auto& each : keys) known += " " + each;
        fail(path_, node.source(), title_ + " has an unknown key '" + std::string(key.str()) + "'; known:" + known);
    }
}

const toml::node& Section::node(const std::string& key, const std::string& example) const {
    const auto* node = table_.get(key);
    if (node == nullptr) fail("has no '" + key + "'; write for example " + key + " = " + example);
    return *node;
}

const toml::table& Section::table_at(const std::string& key, const std::string& example) const {
    static const toml::table none;
    if (!has(key)) return none;
    if (const auto* found = table_.get_as<toml::table>(key)) return *found;
    fail_at(key, "'" + key + "' must be a table; write for example " + key + " = " + example);
}

Expression Section::expression(const std::string& key, const std::string& example, const Names& known) const {
    return checked(key, value<std::string>(key, example), known);
}

namespace {

// Returns what is wrong with the use of text values in an expression; nothing if all is right. Expressions may only
// compare text values with == and !=, because texts have no order and no arithmetic.
std::optional<std::string> misused_text(const std::string& text, const Names& known) {
    static const std::regex token(R"("[^"]*"|'[^']*'|[A-Za-z_0-9.]+|==|!=|\S)");
    std::vector<std::string> tokens;
    for (std::sregex_iterator at(text.begin(), text.end(), token), end; at != end; ++at) tokens.push_back(at->str());
    const auto compares = [&](std::size_t i) { return i < tokens.size() && (tokens[i] == "==" || tokens[i] == "!="); };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto& each = tokens[i];
        const bool literal = each[0] == '"' || each[0] == '\'';
        if (!literal && !known.text_parameters.contains(each)) continue;
        if (!compares(i + 1) && (i == 0 || !compares(i - 1))) {
            return "uses " + (literal ? each : "'" + each + "'") +
                   ", which is text, as a number; compare it with == or !=, as in TYPE == 'float4'";
        }
        if (const auto value = each.substr(1, each.size() - 2); literal && !known.texts.contains(value)) {
            return "compares with " + each + ", which is no value of a parameter; check its spelling";
        }
    }
    return std::nullopt;
}

}  // namespace

Expression Section::checked(const std::string& key, const std::string& text, const Names& known) const {
    try {
        const Expression written(text);  // parsed before expansion, so that errors quote the manifest's text
        Expression expression(known.expand(written.text()));
        for (const auto& name : expression.names()) {
            if (!known.values.contains(name)) {
                fail_at(key, "'" + key + "' names '" + name + "', which is no parameter, extent, layout constant or " +
                                 "device limit; check its spelling");
            }
        }
        if (!known.text_parameters.empty() || expression.text().find_first_of("'\"") != std::string::npos) {
            if (const auto wrong = misused_text(expression.text(), known)) fail_at(key, "'" + key + "' " + *wrong);
        }
        return expression;
    } catch (const ExpressionError& error) {
        fail_at(key, "'" + key + "': " + error.what());
    }
}

std::vector<Section> Section::sections(const std::string& key, const std::string& title) const {
    std::vector<Section> result;
    const auto* node = table_.get(key);
    if (node == nullptr) return result;
    const auto* array = node->as_array();
    if (array == nullptr) fail_at(key, "'" + key + "' must be written as [[" + key + "]]");
    if (array->size() > most_entries) {
        fail_at(key,
                "has " + std::to_string(array->size()) + " [[" + key + "]], more than " + std::to_string(most_entries));
    }
    for (const auto& each : *array) {
        if (!each.is_table()) fail_at(key, "'" + key + "' must be written as [[" + key + "]]");
        result.emplace_back(path_, title, *each.as_table());
    }
    return result;
}

std::optional<Section> Section::section(const std::string& key) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) fail_at(key, "'" + key + "' must be a table: [" + key + "]");
    return Section(path_, "[" + key + "]", *node->as_table());
}

std::string Section::text_without(const std::set<std::string>& keys) const {
    auto table = table_;
    for (const auto& key : keys) table.erase(key);
    std::ostringstream text;
    text << toml::json_formatter(table);
    return text.str();
}

std::string Section::beside(const std::string& file) const {
    return (std::filesystem::path(path_).parent_path() / file).lexically_normal().generic_string();
}

}  // namespace smemtune
