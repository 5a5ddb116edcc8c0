// Compares stored winners with another database and with vendor libraries, for the page.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/store.h"

namespace smemtune {

/// Compares `store` with the database `against`: `{"name", "winners": [...]}`. Lists the devices and problems for which
/// both databases have a winner. Each winner has the 95 % confidence interval of its median. Throws StoreError.
nlohmann::json compared_winners(const Store& store, const std::filesystem::path& against, const Store::Filter& filter);

/// Reads the competitors' times from `text`, the output of `smemtune bench --json`. Returns `{"device", "date",
/// "copy_bytes_per_second", "times": [{"problem", "cache", "name", "us", "ratio", "interval"}]}`, without
/// `copy_bytes_per_second` if `text` lacks it. Throws std::invalid_argument if the text is something else.
nlohmann::json vendor_times(const std::string& text);

}  // namespace smemtune
