#include "db/rows.h"

#include <SQLiteCpp/Column.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "db/integrity/row_hash.h"

namespace smemtune {

namespace {

using Json = nlohmann::ordered_json;  // ordered_json keeps the order of the extents

// The columns of the table `trials`, except `id` and `finished_at`. SQL statements bind and read them in this order.
constexpr std::array<std::string_view, 24> trial_columns{"device",
                                                         "template",
                                                         "problem",
                                                         "configuration",
                                                         "median_us",
                                                         "spread_us",
                                                         "samples_us",
                                                         "cut_short",
                                                         "clock_khz",
                                                         "rejected_at",
                                                         "reason",
                                                         "registers",
                                                         "spill_bytes",
                                                         "static_shared_bytes",
                                                         "dynamic_shared_bytes",
                                                         "compile_ms",
                                                         "verify_ms",
                                                         "time_ms",
                                                         "energy_uj",
                                                         "run",
                                                         "verified_by",
                                                         "code_hash",
                                                         "toolchain",
                                                         "attempts"};
constexpr std::size_t key_columns = 4;  // the first four columns identify a trial

// Returns the index of a column, from 0. An unknown name is a compile error.
consteval int at(std::string_view name) {
    const auto* const found = std::find(trial_columns.begin(), trial_columns.end(), name);
    if (found == trial_columns.end()) throw "no such column";
    return static_cast<int>(found - trial_columns.begin());
}

// Returns the column names, each after `prefix`, separated by commas.
std::string listed(const std::string& prefix) {
    std::string text;
    for (const auto column : trial_columns) {
        text += (text.empty() ? "" : ", ") + prefix + std::string(column);
    }
    return text;
}

}  // namespace

std::string extents_json(const Problem& problem) {
    // The first fetch of each problem needs this text. The JSON library would take most of the fetch's time, so extents
    // with plain names are written without it.
    const auto is_plain = [](const auto& extent) {
        return !extent.first.empty() && std::ranges::all_of(extent.first, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    };
    if (std::ranges::all_of(problem.extents, is_plain)) {
        std::string text;
        for (const auto& [name, value] : problem.extents) {
            text += (text.empty() ? "{\"" : ",\"") + name + "\":" + std::to_string(value);
        }
        return text.empty() ? "{}" : text + "}";
    }
    auto json = Json::object();
    for (const auto& [name, value] : problem.extents) json[name] = value;
    return json.dump();
}

namespace {

// Parses the text of a column with `read`. If `read` throws, throws UnreadableRow.
template <class Read>
auto read_text(const SQLite::Column& column, Read read) {
    const auto text = column.getString();
    try {
        return read(text);
    } catch (const std::exception& error) {  // thrown by nlohmann::json or by our parsers
        throw UnreadableRow(std::string(column.getName()) + " cannot be read: " + error.what());
    }
}

void bind_resources(SQLite::Statement& statement, int first, const Resources& resources) {
    statement.bind(first, resources.registers);
    statement.bind(first + 1, resources.spill_bytes);
    statement.bind(first + 2, resources.static_shared_bytes);
    statement.bind(first + 3, resources.dynamic_shared_bytes);
}

Resources read_resources(const SQLite::Statement& row, int first) {
    return {.registers = row.getColumn(first).getInt64(),
            .spill_bytes = row.getColumn(first + 1).getInt64(),
            .static_shared_bytes = row.getColumn(first + 2).getInt64(),
            .dynamic_shared_bytes = row.getColumn(first + 3).getInt64()};
}

// Reads a problem from four columns, beginning with column `first`: operation, type, layout, extents.
Problem problem_at(const SQLite::Statement& row, int first) {
    Problem problem;
    problem.operation = row.getColumn(first).getString();
    problem.type = row.getColumn(first + 1).getString();
    problem.layout = row.getColumn(first + 2).getString();
    problem.extents = read_text(row.getColumn(first + 3), [](const auto& text) {
        decltype(Problem::extents) extents;
        const auto json = Json::parse(text);
        for (const auto& [name, value] : json.items()) {
            extents.emplace_back(name, value.template get<std::int64_t>());
        }
        return extents;
    });
    return problem;
}

}  // namespace

std::pair<std::int64_t, Problem> read_problem(const SQLite::Statement& row) {
    return {row.getColumn(0).getInt64(), problem_at(row, 1)};
}

void bind_content(SQLite::Statement& find, const Problem& problem) {
    find.bind(1, problem.operation);
    find.bind(2, problem.type);
    find.bind(3, problem.layout);
    find.bind(4, extents_json(problem));
}

void bind_all(SQLite::Statement& insert, const Problem& problem) {
    bind_content(insert, problem);
    insert.bind(5, size_text(problem));
}

std::string insert_device() {
    std::string columns = "name";
    std::string places = "?";
    for (const auto& field : device_fields()) {
        columns += ", " + std::string(field.name);
        places += ", ?";
    }
    return "INSERT INTO devices (" + columns + ") VALUES (" + places + ")";
}

std::string find_device() {
    std::string query = "SELECT id FROM devices WHERE name = ?";
    for (const auto& field : device_fields()) query += " AND " + std::string(field.name) + " = ?";
    return query;
}

void bind(SQLite::Statement& insert_or_find, const Device& device) {
    int parameter = 1;
    insert_or_find.bind(parameter, device.name);
    for (const auto& field : device_fields()) insert_or_find.bind(++parameter, device.*field.member);
}

std::string select_devices() {
    std::string columns = "SELECT id, name";
    for (const auto& field : device_fields()) columns += ", " + std::string(field.name);
    return columns + " FROM devices ORDER BY id";
}

std::pair<std::int64_t, Device> read_device(const SQLite::Statement& row) {
    Device device{.name = row.getColumn(1).getString()};
    int column = 1;
    for (const auto& field : device_fields()) device.*field.member = row.getColumn(++column).getInt64();
    return {row.getColumn(0).getInt64(), std::move(device)};
}

// An SQL condition: the stored measurement was verified in full, the new measurement was not, and both have the same
// machine code.
constexpr auto weaker_than_stored = R"sql(
trials.cut_short IS 0 AND trials.verified_by IS NOT NULL AND trials.code_hash IS NOT NULL
    AND excluded.code_hash IS trials.code_hash AND excluded.median_us IS NOT NULL
    AND (excluded.cut_short IS NOT 0 OR excluded.verified_by IS NULL))sql";

std::string upsert_trial() {
    constexpr auto now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
    std::string places;
    std::string updates;
    for (std::size_t i = 0; i < trial_columns.size(); ++i) {
        const std::string column(trial_columns[i]);
        places += "?, ";
        if (i >= key_columns) updates += column + " = excluded." + column + ", ";
    }
    return "INSERT INTO trials (" + listed("") + ", finished_at) VALUES (" + places + now +
           ") ON CONFLICT (device, template, problem, configuration) DO UPDATE SET " + updates +
           "finished_at = excluded.finished_at WHERE NOT (" + std::string(weaker_than_stored) + ")";
}

void bind(SQLite::Statement& upsert, const TrialRecord& trial) {
    const auto bind_at = [&](int column, const auto& value) { upsert.bind(column + 1, value); };
    // bind() without a value binds NULL.
    for (int column = 0; column < static_cast<int>(trial_columns.size()); ++column) upsert.bind(column + 1);
    bind_at(at("device"), trial.key.device);
    bind_at(at("template"), trial.key.kernel_template);
    bind_at(at("problem"), trial.key.problem);
    bind_at(at("configuration"), to_text(trial.configuration));
    if (const auto* measurement = std::get_if<Measurement>(&trial.outcome)) {
        bind_at(at("median_us"), measurement->median_us);
        bind_at(at("spread_us"), measurement->spread_us);
        bind_at(at("samples_us"), Json(measurement->samples_us).dump());
        bind_at(at("cut_short"), measurement->cut_short ? 1 : 0);
        bind_at(at("clock_khz"), measurement->clock_khz);
        if (measurement->energy_uj != 0) bind_at(at("energy_uj"), measurement->energy_uj);
    } else {
        const auto& rejection = std::get<Rejection>(trial.outcome);
        bind_at(at("rejected_at"), std::string(to_text(rejection.stage)));
        bind_at(at("reason"), rejection.reason);
    }
    bind_resources(upsert, at("registers") + 1, trial.resources);
    bind_at(at("compile_ms"), trial.compile_ms);
    bind_at(at("verify_ms"), trial.verify_ms);
    bind_at(at("time_ms"), trial.time_ms);
    if (trial.run != 0) bind_at(at("run"), trial.run);
    const auto bind_known = [&](int column, const std::string& text) {
        if (!text.empty()) bind_at(column, text);
    };
    bind_known(at("verified_by"), trial.verified_by);
    bind_known(at("code_hash"), trial.code_hash);
    bind_known(at("toolchain"), trial.toolchain);
    bind_at(at("attempts"), trial.attempts);
}

std::string select_trials(const std::string& rest) { return "SELECT " + listed("t.") + " FROM trials AS t " + rest; }

TrialRecord read_trial(const SQLite::Statement& row) {
    TrialRecord trial;
    trial.key = {.device = row.getColumn(at("device")).getInt64(),
                 .kernel_template = row.getColumn(at("template")).getInt64(),
                 .problem = row.getColumn(at("problem")).getInt64()};
    trial.configuration =
        read_text(row.getColumn(at("configuration")), [](const auto& text) { return parse_configuration(text); });
    if (row.isColumnNull(at("median_us"))) {
        trial.outcome = Rejection{
            .stage = read_text(row.getColumn(at("rejected_at")), [](const auto& text) { return parse_stage(text); }),
            .reason = row.getColumn(at("reason")).getString()};
    } else {
        const auto read_samples = [](const auto& text) {
            return Json::parse(text).template get<std::vector<double>>();
        };
        trial.outcome = Measurement{.median_us = row.getColumn(at("median_us")).getDouble(),
                                    .spread_us = row.getColumn(at("spread_us")).getDouble(),
                                    .samples_us = read_text(row.getColumn(at("samples_us")), read_samples),
                                    .cut_short = row.getColumn(at("cut_short")).getInt() != 0,
                                    .clock_khz = row.getColumn(at("clock_khz")).getInt64(),
                                    .energy_uj = row.getColumn(at("energy_uj")).getDouble()};  // NULL is read as 0
    }
    trial.resources = read_resources(row, at("registers"));
    trial.compile_ms = row.getColumn(at("compile_ms")).getDouble();
    trial.verify_ms = row.getColumn(at("verify_ms")).getDouble();
    trial.time_ms = row.getColumn(at("time_ms")).getDouble();
    trial.run = row.getColumn(at("run")).getInt64();                   // NULL is read as 0
    trial.verified_by = row.getColumn(at("verified_by")).getString();  // NULL is read as "", also in the next two lines
    trial.code_hash = row.getColumn(at("code_hash")).getString();
    trial.toolchain = row.getColumn(at("toolchain")).getString();
    trial.attempts = row.getColumn(at("attempts")).getInt64();
    return trial;
}

std::string select_rows(const std::string& rest) {
    return "SELECT " + listed("t.") +
           ", t.id, d.name, k.name, k.hash, p.operation, p.type, p.layout, p.extents, w.decided_at, t.finished_at "
           "FROM trials AS t JOIN devices AS d ON d.id = t.device JOIN templates AS k ON k.id = "
           "t.template "
           "JOIN problems AS p ON p.id = t.problem LEFT JOIN winners AS w ON w.device = t.device AND "
           "w.problem = t.problem AND w.trial = t.id " +
           rest;
}

TrialRow read_row(const SQLite::Statement& row) {
    constexpr int first = trial_columns.size();
    TrialRow result;
    result.id = row.getColumn(first).getInt64();
    try {
        result.record = read_trial(row);
        result.problem = problem_at(row, first + 4);
    } catch (const UnreadableRow& error) {
        throw UnreadableRow("trial " + std::to_string(result.id) + ": " + error.what());
    }
    result.device = row.getColumn(first + 1).getString();
    result.kernel_template = row.getColumn(first + 2).getString();
    result.template_hash = row.getColumn(first + 3).getString();
    result.winner = !row.isColumnNull(first + 8);
    result.decided_at = row.getColumn(first + 8).getString();  // NULL is read as ""
    result.finished_at = row.getColumn(first + 9).getString();
    return result;
}

void bind(SQLite::Statement& upsert, const BinaryRecord& binary) {
    upsert.bind(1, binary.kernel_template);
    upsert.bind(2, to_text(binary.configuration));
    upsert.bind(3, binary.target);
    upsert.bind(4, binary.compiler);
    upsert.bind(5, binary.code.data(), static_cast<int>(binary.code.size()));
    bind_resources(upsert, 6, binary.resources);
    upsert.bind(10, row_sha256(binary));
}

BinaryRecord read_binary(const SQLite::Statement& row, bool needs_hash) {
    const auto code = row.getColumn(4);
    const auto* bytes = static_cast<const std::uint8_t*>(code.getBlob());
    BinaryRecord binary{
        .kernel_template = row.getColumn(0).getInt64(),
        .configuration = read_text(row.getColumn(1), [](const auto& text) { return parse_configuration(text); }),
        .target = row.getColumn(2).getString(),
        .compiler = row.getColumn(3).getString(),
        .code = {bytes, bytes + code.getBytes()},
        .resources = read_resources(row, 5)};
    check_hash(row.getColumn(9), row_sha256(binary), needs_hash);
    return binary;
}

void check_hash(const SQLite::Column& stored, const std::string& computed, bool needs_hash) {
    if (stored.isNull() && !needs_hash) return;
    if (stored.getString() != computed) throw UnreadableRow("its content differs from its SHA-256");
}

}  // namespace smemtune
