// Collects the data of a report's page as JSON, from a database or a part of it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "db/store.h"

namespace smemtune {

struct PageRequest {
    Store::Filter filter{};  ///< the trials to show; its order and its limit are ignored
    /// A database whose winners are compared with those of the page.
    std::optional<std::filesystem::path> against{};
    std::string bench{};      ///< the output of `smemtune bench --json`; if empty, the page compares with no library
    bool unfinished = false;  ///< whether a run still writes the database, so that the page must reload itself
};

/// Returns JSON text, which tuner/page/web/data.js reads. Trials are stored as columns (TrialColumns) and
/// configurations as short text (ConfigurationDictionary), so that 50,000 trials take about 3 MB. Throws StoreError,
/// and std::invalid_argument if `bench` is not what `smemtune bench --json` prints.
std::string page_data(const Store& store, const PageRequest& request);

}  // namespace smemtune
