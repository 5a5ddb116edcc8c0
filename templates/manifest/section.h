// Reads values from a table of a manifest by key and type. Errors name the line.
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

/// The largest size of a manifest in bytes, and the largest number of entries in one list. Both are far above the needs
/// of a kernel, and low enough that no manifest exhausts memory or stack.
constexpr std::size_t longest_manifest = std::size_t{1} << 20;
constexpr std::size_t most_entries = 256;
constexpr std::size_t longest_expression = 16'384;  ///< limit in characters, with [[derived]] names written out
/// The largest number of dots in a manifest. It is limited, because the parser recurses once for each dot of a key such
/// as `a.b.c`.
constexpr std::size_t most_dots = 2000;

/// The names that a manifest's expressions may use.
struct Names {
    std::set<std::string> values;                ///< names of parameters, extents, layout constants and device limits
    std::map<std::string, std::string> derived;  ///< name of a derived value -> its expression over `values`
    std::set<std::string> text_parameters;       ///< the parameters in `values` that have text values
    std::set<std::string> texts;                 ///< the text values of these parameters

    /// Returns `text` with each derived name replaced by its expression, in parentheses. Throws ExpressionError if the
    /// result is longer than `longest_expression`.
    [[nodiscard]] std::string expand(const std::string& text) const;
};

/// Parses a manifest. Throws ManifestError with the line of a syntax error, or if the text exceeds a limit of this
/// file.
toml::table parse_toml(const std::string& path, const std::string& text);

bool is_identifier(const std::string& text);
bool is_int(std::int64_t value);

/// A table of a manifest. Its functions throw ManifestError. If a function takes an `example`, this is a sample value
/// in TOML, which the error message shows.
class Section {
public:
    /// `path` and `table` must outlive the section. Error messages call the section `title`, such as "[launch]".
    Section(const std::string& path, std::string title, const toml::table& table)
        : path_(path), title_(std::move(title)), table_(table) {}

    /// Throws a ManifestError whose message begins with the position `where`. Uses `path` if `where` has only a line.
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

    /// Returns the table at `key`; an empty table if the key is absent.
    [[nodiscard]] const toml::table& table_at(const std::string& key, const std::string& example) const;

    /// Returns the expression at `key`. It may use the names in `known`.
    [[nodiscard]] Expression expression(const std::string& key, const std::string& example, const Names& known) const;
    [[nodiscard]] Expression checked(const std::string& key, const std::string& text, const Names& known) const;

    /// Returns the tables of `[[key]]`; none if the key is absent. Error messages call each table `title`. Fails if
    /// there are more than `most_entries` tables.
    [[nodiscard]] std::vector<Section> sections(const std::string& key, const std::string& title) const;
    /// Returns the table of `[key]`; nothing if the key is absent.
    [[nodiscard]] std::optional<Section> section(const std::string& key) const;

    /// Returns the content of the section without the entries of `keys`, in a form that does not depend on layout and
    /// comments.
    [[nodiscard]] std::string text_without(const std::set<std::string>& keys) const;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// The manifest names `file` relative to its own folder. Returns the path of `file` relative to the templates
    /// folder.
    [[nodiscard]] std::string beside(const std::string& file) const;

private:
    const std::string& path_;
    std::string title_;
    const toml::table& table_;
};

}  // namespace smemtune
