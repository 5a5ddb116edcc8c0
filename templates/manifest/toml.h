// toml++, with its assertions as exceptions in every build: some invalid texts break them, such as `[=]` (3.3.0). As
// they come, they end the process, or where NDEBUG is defined they are promises to the compiler (`__builtin_assume`).
#pragma once

#include <stdexcept>

namespace smemtune {

/// Thrown where toml++ asserts; parse_toml() makes a ManifestError of it.
struct TomlAssertion : std::logic_error {
    TomlAssertion() : std::logic_error("an assertion of toml++ failed") {}
};

constexpr void toml_assertion(bool holds) {
    if (!holds) throw TomlAssertion();
}

}  // namespace smemtune

#define TOML_HEADER_ONLY 1  // Debian's compiled libtomlplusplus has no static form, which the portable build needs
#define TOML_ASSERT(condition) smemtune::toml_assertion(static_cast<bool>(condition))
#pragma push_macro("NDEBUG")
#undef NDEBUG  // with it, toml++ ignores TOML_ASSERT
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
