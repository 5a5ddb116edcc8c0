// Parses problem sizes: `512..8192`, `512..8192:512`, `1000,4095`, `4096x11008x128`, mixed with commas.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The extents of an operation, as sizes list them.
struct SizeForm {
    std::vector<std::string> names;  ///< M, N, K
    std::set<std::string> counts{};  ///< the extents that count matrices
};
SizeForm size_form(const Operation& operation);

/// Parses sizes. Each size has one value for each extent. A single number stands for all extents, but counts are then
/// 1. Keeps the order and drops duplicates. Throws std::invalid_argument, which names the malformed part and a valid
/// example.
std::vector<std::vector<std::int64_t>> parse_sizes(std::string_view text, const SizeForm& form);

/// Converts sizes to patterns for Store::Filter. `text` has the form of `--sizes`, but `512` means the size of any
/// operation whose extents are all 512 (or a batch of one of these), and patterns such as `512x*` are allowed. An empty
/// text means all sizes. `forms` are those of all known operations. Throws std::invalid_argument.
std::vector<std::string> stored_sizes(std::string_view text, const std::vector<SizeForm>& forms);

/// The default of --sizes: minutes of work, even on the host.
std::string automatic_sizes(const SizeForm& form, bool host);

}  // namespace smemtune
