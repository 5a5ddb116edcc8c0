// One table of a manifest: typed access by key, with the line of each error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "templates/manifest/toml.h"
#include "templates/space/expression.h"

namespace smemtune {

/// The largest manifest in bytes, and the most entries of one list: far above the needs of a kernel, and low enough
/// that no manifest exhausts memory or stack.
constexpr std::size_t longest_manifest = std::size_t{1} << 20;
constexpr std::size_t most_entries = 256;
constexpr std::size_t longest_expression = 16'384;  ///< characters, [[derived]] names written out
/// The limit on dots in a manifest: each dot of a key such as `a.b.c` costs a level of recursion.
constexpr std::size_t most_dots = 2000;

/// The names that a manifest's expressions may use.
struct Names {
    std::set<std::string> values;                ///< known once configuration, problem and device are known
    std::map<std::string, std::string> derived;  ///< shorthands for expressions over `values`
    std::set<std::string> text_parameters;       ///< of `values`: those with values that are no whole numbers
    std::set<std::string> texts;                 ///< these values

    /// `text` with every shorthand replaced by its expression, in parentheses. Throws ExpressionError if the result is
    /// longer than `longest_expression`.
    [[nodiscard]] std::string expand(const std::string& text) const;
};

/// Throws ManifestError with the line of the syntax error, or if the text is over a limit.
toml::table parse_toml(const std::string& path, const std::string& text);

bool is_identifier(const std::string& text);
bool is_int(std::int64_t value);

/// All failures throw ManifestError. `example` is a sample value for the message, in TOML.
class Section {
public:
    /// `path` and `table` must outlive the section. Messages call it `title`, such as "[launch]".
    Section(const std::string& path, std::string title, const toml::table& table)
        : path_(path), title_(std::move(title)), table_(table) {}

    /// `path` names the file if the position has only a line.
    [[noreturn]] static void fail(const std::string& path, const toml::source_region& where, const std::string& what);
    [[noreturn]] void fail(const std::string& what) const { fail(path_, table_.source(), title_ + " " + what); }
    [[noreturn]] void fail_at(const std::string& key, const std::string& what) const;

    void allow_only(const std::set<std::string>& keys) const;

    [[nodiscard]] bool has(const std::string& key) const { return table_.contains(key); }

    [[nodiscard]] const toml::node& node(const std::string& key, const std::string& example) const;

    template <class T>
    [[nodiscard]] T value(const std::string& key, const std::string& example) const {
        const auto& found = node(key, example);
        if (const auto value = found.value_exact<T>()) return *value;
        fail(path_, found.source(),
             title_ + " '" + key + "' has the wrong type; write for example " + key + " = " + example);
    }
    template <class T>
    [[nodiscard]] T value_or(const std::string& key, const std::string& example, T otherwise) const {
        return has(key) ? value<T>(key, example) : otherwise;
    }

    template <class T>
    [[nodiscard]] std::vector<T> list(const std::string& key, const std::string& example) const {
        const auto& found = node(key, example);
        const auto* array = found.as_array();
        std::vector<T> values;
        for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
            if (const auto value = array->get(i)->value_exact<T>()) values.push_back(*value);
        }
        if (array != nullptr && values.size() == array->size() && !values.empty()) return values;
        fail(path_, found.source(),
             title_ + " '" + key + "' must be a list; write for example " + key + " = " + example);
    }

    /// Empty when the key is absent.
    [[nodiscard]] toml::table table_at(const std::string& key, const std::string& example) const;

    /// `known`: the names that the expression may use.
    [[nodiscard]] Expression expression(const std::string& key, const std::string& example, const Names& known) const;
    [[nodiscard]] Expression checked(const std::string& key, const std::string& text, const Names& known) const;

    /// The tables of `[[key]]`, each named `title` in messages; none if the key is absent. Fails beyond `most_entries`.
    [[nodiscard]] std::vector<Section> sections(const std::string& key, const std::string& title) const;
    /// The table of `[key]`, if any.
    [[nodiscard]] std::optional<Section> section(const std::string& key) const;

    /// The content of the section without these keys, in one form that does not depend on layout and comments.
    [[nodiscard]] std::string text_without(const std::set<std::string>& keys) const;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// A path that the manifest gives relative to its own folder.
    [[nodiscard]] std::string beside(const std::string& file) const;

private:
    const std::string& path_;
    std::string title_;
    const toml::table& table_;
};

}  // namespace smemtune
