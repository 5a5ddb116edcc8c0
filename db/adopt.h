// Adopts stored versions of a template that have the same machine code as this version.
#pragma once

#include <string>
#include <vector>

#include "db/query.h"
#include "db/record.h"

namespace smemtune {

/// A JSON array, for json_each in SQL.
std::string json_array(const std::vector<std::string>& texts);

/// Whether the database has a row of this template's name under one of its `same_code_as` hashes.
bool has_same_code(Connection& connection, const TemplateRecord& kernel_template);

/// Merges those rows into the row of `kernel_template`, with their trials, machine code and winners. If no row has the
/// hash of `kernel_template`, the newest row gets that hash. The other rows hand over their trials and machine code,
/// and are deleted. If two rows have a trial of the same configuration, the trial under the hash of `kernel_template`
/// stays. It becomes the winner if the other trial was the winner and it is a measurement. The stored files do not
/// change; the caller updates them. `defaults` are those of Store::remember. Runs inside the caller's transaction.
void adopt_same_code(Connection& connection, const TemplateRecord& kernel_template, const Configuration& defaults);

}  // namespace smemtune
