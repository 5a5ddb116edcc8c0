// Reads what the manifest must know of a CUDA source: its includes, and the names that its preprocessor needs. It scans
// lines, and expands no macros.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The header that smemtune writes for each candidate.
constexpr std::string_view generated_header = "configuration.h";

/// The source with comments and the contents of literals as spaces. Lines keep their numbers; the names of included
/// files stay.
std::string without_comments(const std::string& source);

/// The identifiers in `text`.
std::set<std::string> words_of(std::string_view text);

struct Include {
    std::string name;
    std::size_t line = 0;
    bool quoted = false;
    bool disabled = false;  ///< in `#if 0` or a comment
};
std::vector<Include> includes_of(const std::string& source);

/// The names that decide `#if`, `#ifdef` and the like, directly or through macros of the sources.
std::set<std::string> names_in_conditions(const std::vector<std::string>& sources);

/// A line that gives a name a value which replaces the tuner's.
struct Redefinition {
    std::string name;
    std::size_t line = 0;
    std::string written;  ///< "#define TILE", "constexpr int TILE"
};
/// The first `#define` or `#undef` of one of `names` that `#ifndef NAME` does not guard, or declaration of a constant.
/// `macros` are defined before the source.
std::optional<Redefinition> redefinition(const std::string& source, const std::set<std::string>& names,
                                         const std::set<std::string>& macros = {});

/// The parameters that templates of the source declare themselves: `template <int TILE>` gives TILE.
std::set<std::string> template_parameters(const std::string& source);

/// Whether the source declares `extern "C"` anything.
bool has_c_linkage(const std::string& source);

/// The name of the function in `ns::kernel<float, 4>`: `kernel`.
std::string base_name(const std::string& entry);

/// `text`, each identifier replaced by what `value` gives for it, if anything.
std::string substituted(const std::string& text,
                        const std::function<std::optional<std::string>(const std::string&)>& value);

}  // namespace smemtune
