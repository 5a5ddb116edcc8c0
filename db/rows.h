// Translates between rows and values: the SQL of each record, its binder or reader, and the JSON in the columns.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "db/record.h"

namespace smemtune {

/// A row that smemtune cannot have written. It is damaged or was edited by hand.
struct UnreadableRow : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A binder fills the parameters of its statement in order, starting with the first.

constexpr auto insert_problem = "INSERT INTO problems (operation, type, layout, extents, size) VALUES (?, ?, ?, ?, ?)";
constexpr auto find_problem = "SELECT id FROM problems WHERE operation = ? AND type = ? AND layout = ? AND extents = ?";
constexpr auto select_problems = "SELECT id, operation, type, layout, extents FROM problems ORDER BY id";
std::pair<std::int64_t, Problem> read_problem(const SQLite::Statement& row);
void bind_content(SQLite::Statement& find, const Problem& problem);
void bind_all(SQLite::Statement& insert, const Problem& problem);

/// {"M":4096,...}, in the order of the problem.
std::string extents_json(const Problem& problem);

std::string insert_device();
std::string find_device();
void bind(SQLite::Statement& insert_or_find, const Device& device);
std::string select_devices();
std::pair<std::int64_t, Device> read_device(const SQLite::Statement& row);

std::string upsert_trial();
void bind(SQLite::Statement& upsert, const TrialRecord& trial);

/// Selects trials for read_trial, as `t`; `rest` begins with WHERE.
std::string select_trials(const std::string& rest);
TrialRecord read_trial(const SQLite::Statement& row);

/// Selects trials for read_row, as `t` with their `d` (device), `k` (template), `p` (problem) and `w` (winner).
std::string select_rows(const std::string& rest);
TrialRow read_row(const SQLite::Statement& row);

constexpr auto upsert_binary = R"sql(
INSERT INTO binaries (template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
                      dynamic_shared_bytes, sha256)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (template, configuration, target) DO UPDATE SET
    compiler = excluded.compiler, code = excluded.code, registers = excluded.registers,
    spill_bytes = excluded.spill_bytes, static_shared_bytes = excluded.static_shared_bytes,
    dynamic_shared_bytes = excluded.dynamic_shared_bytes, sha256 = excluded.sha256)sql";
void bind(SQLite::Statement& upsert, const BinaryRecord& binary);

constexpr auto find_binary = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE template = ? AND configuration = ? AND target = ?)sql";
constexpr auto find_binaries = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE template = ? AND configuration = ? ORDER BY id)sql";
/// Takes the name and the hash of the template instead of its row number.
constexpr auto find_binary_of_version = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE template = (SELECT id FROM templates WHERE name = ? AND hash = ?) AND configuration = ?
    AND target = ?)sql";
/// Throws UnreadableRow if the row differs from its hash; rows without one pass unless `needs_hash`.
BinaryRecord read_binary(const SQLite::Statement& row, bool needs_hash);

/// Compares with the stored SHA-256. Throws UnreadableRow.
void check_hash(const SQLite::Column& stored, const std::string& computed, bool needs_hash);

}  // namespace smemtune
