// Copies winners and portfolios from one database to another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/store.h"

namespace smemtune {

struct Exported {
    std::size_t winners = 0;
    std::size_t members = 0;              ///< of portfolios
    std::vector<std::string> left_out{};  ///< winners and members that the copy lacks, and why
};

/// Copies every portfolio and, with `winners`, the winner of each problem: templates, machine code, and the measurement
/// of each winner. No other trials, no runs, no samples. Copies only undamaged rows whose machine code is the code that
/// was verified. A winner without stored machine code is copied without it.
Exported export_database(const Store& from, Store& to, bool winners);

}  // namespace smemtune
