// Compares stored winners with another database and with vendor libraries, for the page.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/store.h"

namespace smemtune {

/// `{"name", "winners": [...]}`: the winners of both databases for the devices and problems that both hold, with the
/// 95 % confidence interval of each median in its own run. Throws StoreError.
nlohmann::json compared_winners(const Store& store, const std::filesystem::path& against, const Store::Filter& filter);

/// The competitors' times in `text`, the output of `smemtune bench --json`: `{"device", "operation", "type", "layout",
/// "size", "name", "cache", "us", "ratio", "interval"}`. Throws std::invalid_argument if the text is something else.
nlohmann::json vendor_times(const std::string& text);

}  // namespace smemtune
