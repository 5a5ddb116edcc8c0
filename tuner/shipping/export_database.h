// Copies winners and portfolios from one database to another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/store.h"

namespace smemtune {

struct Exported {
    std::size_t winners = 0;
    std::size_t members = 0;              ///< how many members of portfolios were copied
    std::vector<std::string> left_out{};  ///< what was not copied, with reasons
    bool has_damage = false;              ///< whether a damaged row was left out
};

/// Copies every portfolio. If `winners` is true, also copies the winner of each problem with its measurement. Templates
/// and machine code are copied with them. Other trials, runs and samples are not copied.
///
/// Exported::left_out names what could not be copied: damaged rows, portfolios whose time models have terms of another
/// version (terms_version), members whose verified machine code is not stored, and winners for which it is unknown how
/// they were verified. A winner whose machine code is not stored is copied without it.
Exported export_database(const Store& from, Store& to, bool winners);

/// Returns a text for each portfolio whose time models have terms of another version: which portfolio, and what to do.
std::vector<std::string> outdated_portfolios(const Store& store);

}  // namespace smemtune
