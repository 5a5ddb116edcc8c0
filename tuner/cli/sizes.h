// Problem sizes as people write them: `512..8192`, `512..8192:512`, `1000,4095`, `4096x11008x128`, mixed with commas.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The extents of an operation, as its sizes give them.
struct SizeForm {
    std::vector<std::string> names;  ///< M, N, K
    std::set<std::string> counts{};  ///< those that say how many matrices there are
};
SizeForm size_form(const Operation& operation);

/// Each size has one value for each extent; a single number stands for all of them, but counts are 1 then. In the order
/// written, none twice. Throws std::invalid_argument naming the part that does not fit, and an example that does.
std::vector<std::vector<std::int64_t>> parse_sizes(std::string_view text, const SizeForm& form);

/// The sizes of a database that `text` means, as patterns for Store::Filter: those of `--sizes`, where `512` is the
/// size of any operation whose extents are all 512 (a batch of one included), and patterns such as `512x*`. Empty:
/// every size. `forms` are those of the operations that are known. Throws std::invalid_argument.
std::vector<std::string> stored_sizes(std::string_view text, const std::vector<SizeForm>& forms);

/// The sizes that are tuned unless --sizes is given: minutes of work, on the host too.
std::string automatic_sizes(const SizeForm& form, bool host);

}  // namespace smemtune
