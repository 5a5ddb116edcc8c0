// Translates between database rows and C++ values. For each kind of record, this file has its SQL and the functions
// that bind and read its columns.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "db/record.h"

namespace smemtune {

/// Thrown for a row that smemtune cannot have written: the row is damaged, or was edited by hand.
struct UnreadableRow : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Each bind function sets the parameters of its SQL statement in order, beginning with the first.

constexpr auto insert_problem = "INSERT INTO problems (operation, type, layout, extents, size) VALUES (?, ?, ?, ?, ?)";
constexpr auto find_problem = "SELECT id FROM problems WHERE operation = ? AND type = ? AND layout = ? AND extents = ?";
constexpr auto select_problems = "SELECT id, operation, type, layout, extents FROM problems ORDER BY id";
std::pair<std::int64_t, Problem> read_problem(const SQLite::Statement& row);
void bind_content(SQLite::Statement& find, const Problem& problem);
void bind_all(SQLite::Statement& insert, const Problem& problem);

/// Returns the extents as JSON, such as {"M":4096,"N":4096}, in the order in which the problem has them.
std::string extents_json(const Problem& problem);

std::string insert_device();
std::string find_device();
void bind(SQLite::Statement& insert_or_find, const Device& device);
std::string select_devices();
std::pair<std::int64_t, Device> read_device(const SQLite::Statement& row);

std::string upsert_trial();
void bind(SQLite::Statement& upsert, const TrialRecord& trial);

/// Returns SQL that selects trials for read_trial and ends with `rest`, such as a WHERE clause. In `rest`, the table of
/// the trials has the alias `t`.
std::string select_trials(const std::string& rest);
TrialRecord read_trial(const SQLite::Statement& row);

/// Returns SQL that selects trials for read_row and ends with `rest`. In `rest`, the tables have aliases: `t` is the
/// trial, `d` its device, `k` its template, `p` its problem, and `w` its row in the table `winners`. If the trial is
/// not the winner, the columns of `w` are NULL.
std::string select_rows(const std::string& rest);
/// Throws UnreadableRow, whose message begins with the number of the trial: `trial 17: ...`.
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
/// Like find_binary, but takes the name and the hash of the template instead of its row number.
constexpr auto find_binary_of_version = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE template = (SELECT id FROM templates WHERE name = ? AND hash = ?) AND configuration = ?
    AND target = ?)sql";
/// Throws UnreadableRow if the row differs from its hash, or if `needs_hash` is true and the row has no hash.
BinaryRecord read_binary(const SQLite::Statement& row, bool needs_hash);

/// Throws UnreadableRow if `computed` differs from the stored SHA-256, or if `needs_hash` is true and `stored` is NULL.
void check_hash(const SQLite::Column& stored, const std::string& computed, bool needs_hash);

}  // namespace smemtune
