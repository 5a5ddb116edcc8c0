// Between rows and values: the SQL of each record beside its binder or reader, and the JSON in the columns.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <SQLiteCpp/Statement.h>

#include "db/record.h"

namespace smemtune {

/// A row that no writer of ours has left: damaged, or edited by hand.
struct UnreadableRow : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Binders fill the parameters of their statements in order, from the first.

constexpr auto insert_problem = "INSERT INTO problems (operation, type, layout, extents, size) VALUES (?, ?, ?, ?, ?)";
constexpr auto find_problem = "SELECT id FROM problems WHERE operation = ? AND type = ? AND layout = ? AND extents = ?";
void bind_content(SQLite::Statement& find, const Problem& problem);
void bind_all(SQLite::Statement& insert, const Problem& problem);

std::string insert_device();
std::string find_device();
void bind(SQLite::Statement& insert_or_find, const Device& device);
std::string select_devices();
std::pair<std::int64_t, Device> read_device(const SQLite::Statement& row);

constexpr auto upsert_trial = R"sql(
INSERT INTO trials (device, template, problem, configuration, median_us, spread_us, samples_us, cut_short, clock_khz,
                    rejected_at, reason, registers, spill_bytes, static_shared_bytes, dynamic_shared_bytes, compile_ms,
                    verify_ms, time_ms, energy_uj, run, finished_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ON CONFLICT (device, template, problem, configuration) DO UPDATE SET
    median_us = excluded.median_us, spread_us = excluded.spread_us, samples_us = excluded.samples_us,
    cut_short = excluded.cut_short, clock_khz = excluded.clock_khz, rejected_at = excluded.rejected_at,
    reason = excluded.reason, registers = excluded.registers, spill_bytes = excluded.spill_bytes,
    static_shared_bytes = excluded.static_shared_bytes, dynamic_shared_bytes = excluded.dynamic_shared_bytes,
    compile_ms = excluded.compile_ms, verify_ms = excluded.verify_ms, time_ms = excluded.time_ms,
    energy_uj = excluded.energy_uj, run = excluded.run, finished_at = excluded.finished_at)sql";
void bind(SQLite::Statement& upsert, const TrialRecord& trial);

/// Selects trials, as `t`, for read_trial; `rest` begins with WHERE.
std::string select_trials(const std::string& rest);
TrialRecord read_trial(const SQLite::Statement& row);

/// Selects trials as `t` with their `d` (device), `k` (template), `p` (problem) and `w` (crown), for read_row.
std::string select_rows(const std::string& rest);
TrialRow read_row(const SQLite::Statement& row);

constexpr auto upsert_binary = R"sql(
INSERT INTO binaries (template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
                      dynamic_shared_bytes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (template, configuration, target) DO UPDATE SET
    compiler = excluded.compiler, code = excluded.code, registers = excluded.registers,
    spill_bytes = excluded.spill_bytes, static_shared_bytes = excluded.static_shared_bytes,
    dynamic_shared_bytes = excluded.dynamic_shared_bytes)sql";
void bind(SQLite::Statement& upsert, const BinaryRecord& binary);

constexpr auto find_binary = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes
FROM binaries WHERE template = ? AND configuration = ? AND target = ?)sql";
BinaryRecord read_binary(const SQLite::Statement& row);

}  // namespace smemtune
