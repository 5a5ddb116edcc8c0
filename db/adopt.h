// If several versions of a template have the same machine code, merges their stored rows into one.
#pragma once

#include <string>
#include <vector>

#include "db/query.h"
#include "db/record.h"

namespace smemtune {

/// Returns `texts` as a JSON array, for json_each in SQL.
std::string json_array(const std::vector<std::string>& texts);

/// Whether the database has a row with this template's name and with one of the hashes in its `same_code_as`.
bool has_same_code(Connection& connection, const TemplateRecord& kernel_template);

/// Merges the rows that has_same_code() looks for. All of them are merged into one row, which has the hash of
/// `kernel_template`. If no row has this hash, the newest of the rows to merge gets it. The trials, machine code and
/// portfolio members of the other rows move to the row with this hash, and the other rows are deleted. The row with
/// this hash may already have a trial of the same device, problem and configuration. Then that trial is kept, and the
/// trial from the other row is deleted. If the deleted trial was the winner, the kept trial becomes the winner,
/// provided that it was measured completely and verified. The stored source files do not change; the caller updates
/// them. `defaults`: see Store::remember. Runs inside the caller's transaction.
void adopt_same_code(Connection& connection, const TemplateRecord& kernel_template, const Configuration& defaults);

}  // namespace smemtune
