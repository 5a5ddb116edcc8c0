// Parses problem sizes: `512..8192`, `512..8192:512`, `1000,4095`, `4096x11008x128`, mixed with commas.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The names of an operation's extents, in the order in which a size lists their values.
struct SizeForm {
    std::vector<std::string> names;  ///< the names of the extents, such as M, N, K
    std::set<std::string> counts{};  ///< the extents that count matrices, such as BATCH
};
SizeForm size_form(const Operation& operation);

/// Parses sizes. Each size has one value for each extent. If a size is a single number, extents that count matrices are
/// 1, and all others have this value. Keeps the order and drops duplicates. Throws std::invalid_argument, whose message
/// names the malformed part and a valid example.
std::vector<std::vector<std::int64_t>> parse_sizes(std::string_view text, const SizeForm& form);

/// Converts sizes to patterns for Store::Filter. `text` has the form of `--sizes`, and may contain patterns such as
/// `512x*`. A single number such as `512` gives one size for each of `forms`, as in parse_sizes(). An empty text means
/// all sizes. Throws std::invalid_argument.
std::vector<std::string> stored_sizes(std::string_view text, const std::vector<SizeForm>& forms);

/// The default of --sizes. A run of these sizes takes minutes; `host` chooses small sizes for the host device.
std::string automatic_sizes(const SizeForm& form, bool host);

}  // namespace smemtune
