// Scans CUDA sources for what smemtune must know when it loads a template, such as includes and the names in
// preprocessor conditions. Reads a source line by line and expands no macros.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The header that smemtune writes for each candidate.
constexpr std::string_view generated_header = "configuration.h";

/// Returns the source with spaces in place of comments and of the contents of literals. Keeps line breaks, the file
/// names in #include lines, and the literal of `extern "C"`.
std::string without_comments(const std::string& source);

/// Returns the identifiers in `text`.
std::set<std::string> words_of(std::string_view text);

struct Include {
    std::string name;
    std::size_t line = 0;
    bool quoted = false;
    bool disabled = false;  ///< whether the #include is inside an `#if 0` or a comment
};
std::vector<Include> includes_of(const std::string& source);

/// A preprocessor directive or a line of code, without comments and with continued lines joined.
struct SourceLine {
    std::string directive;  ///< such as "ifndef"; empty for a line of code
    std::string rest;       ///< what follows the directive; the whole line of code
    std::size_t line = 0;
    std::string constant;          ///< name of the constant that the line defines at file scope; empty if none
    std::string written_constant;  ///< such as "constexpr int TILE"
};
/// Returns all lines that are not blank.
std::vector<SourceLine> lines_of(const std::string& source);

/// Returns the names in conditions such as `#if` and `#ifdef`. Also returns the names in the definitions of macros that
/// these conditions use, directly or through other macros. Each element of `sources` is the lines of a source.
std::set<std::string> names_in_conditions(const std::vector<std::span<const SourceLine>>& sources);

/// A line of a source that defines a name again, although configuration.h has given it a value.
struct Redefinition {
    std::string name;
    std::size_t line = 0;
    std::string written;  ///< such as "#define TILE" or "constexpr int TILE"
};
/// Returns the first line that replaces the value of one of `names`: a `#define`, an `#undef`, or a constant at file
/// scope. Ignores lines that are guarded by `#ifndef NAME`. `macros` are names that are defined before the source
/// begins.
std::optional<Redefinition> redefinition(std::span<const SourceLine> source, const std::set<std::string>& names,
                                         const std::set<std::string>& macros = {});

/// Returns the parameter names of the C++ templates in the source, such as TILE for `template <int TILE>`.
std::set<std::string> template_parameters(const std::string& source);

/// Whether the source has an `extern "C"`.
bool has_c_linkage(const std::string& source);

/// Returns the name of an entry point's function: `kernel` for `ns::kernel<float, 4>`.
std::string base_name(const std::string& entry);

/// Returns `text` with each identifier replaced by `value(identifier)`. If `value` returns nothing, keeps the
/// identifier.
std::string substituted(const std::string& text,
                        const std::function<std::optional<std::string>(const std::string&)>& value);

}  // namespace smemtune
