// Stored versions of a template whose machine code is that of another version.
#pragma once

#include <string>
#include <vector>

#include "db/query.h"
#include "db/record.h"

namespace smemtune {

/// A JSON array, for SQL's json_each.
std::string json_array(const std::vector<std::string>& texts);

/// Whether the database has a row of this name under one of `same_code_as`.
bool has_same_code(Connection& connection, const TemplateRecord& kernel_template);

/// Turns those rows into the one of `kernel_template`: trials, machine code and winners stay. Without a row under its
/// hash, the newest of them gets it. All others give it their trials and machine code and are deleted; where both have
/// a trial of one configuration, the one under its hash stays, with the other's crown if it is a measurement. The files
/// are left to the caller, and `defaults` are those of Store::remember. Inside the caller's transaction.
void adopt_same_code(Connection& connection, const TemplateRecord& kernel_template, const Configuration& defaults);

}  // namespace smemtune
