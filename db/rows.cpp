#include "db/rows.h"

#include <SQLiteCpp/Column.h>
#include <nlohmann/json.hpp>

namespace smemtune {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the extents

constexpr auto trial_columns =
    "t.device, t.template, t.problem, t.configuration, t.median_us, t.spread_us, t.samples_us, t.cut_short, "
    "t.clock_khz, t.rejected_at, t.reason, t.registers, t.spill_bytes, t.static_shared_bytes, t.dynamic_shared_bytes, "
    "t.compile_ms, t.verify_ms, t.time_ms, t.energy_uj, t.run";
constexpr int after_trial_columns = 20;

std::string extents_json(const Problem& problem) {
    auto json = Json::object();
    for (const auto& [name, value] : problem.extents) json[name] = value;
    return json.dump();
}

// Reads what is spelled inside a column; whatever it throws means that the row is damaged.
template <class Read>
auto read_text(const SQLite::Column& column, Read read) {
    const auto text = column.getString();
    try {
        return read(text);
    } catch (const std::exception& error) {  // nlohmann's, or invalid_argument of the parsers
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

}  // namespace

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

void bind(SQLite::Statement& upsert, const TrialRecord& trial) {
    upsert.bind(1, trial.key.device);
    upsert.bind(2, trial.key.kernel_template);
    upsert.bind(3, trial.key.problem);
    upsert.bind(4, to_text(trial.configuration));
    for (int parameter = 5; parameter <= 11; ++parameter) upsert.bind(parameter);  // NULL
    if (const auto* measurement = std::get_if<Measurement>(&trial.outcome)) {
        upsert.bind(5, measurement->median_us);
        upsert.bind(6, measurement->spread_us);
        upsert.bind(7, Json(measurement->samples_us).dump());
        upsert.bind(8, measurement->cut_short ? 1 : 0);
        upsert.bind(9, measurement->clock_khz);
    } else {
        const auto& rejection = std::get<Rejection>(trial.outcome);
        upsert.bind(10, std::string(to_text(rejection.stage)));
        upsert.bind(11, rejection.reason);
    }
    bind_resources(upsert, 12, trial.resources);
    upsert.bind(16, trial.compile_ms);
    upsert.bind(17, trial.verify_ms);
    upsert.bind(18, trial.time_ms);
    const auto* measured = std::get_if<Measurement>(&trial.outcome);
    if (measured == nullptr || measured->energy_uj == 0) {
        upsert.bind(19);
    } else {
        upsert.bind(19, measured->energy_uj);
    }
    if (trial.run == 0) {
        upsert.bind(20);
    } else {
        upsert.bind(20, trial.run);
    }
}

std::string select_trials(const std::string& rest) {
    return "SELECT " + std::string(trial_columns) + " FROM trials AS t " + rest;
}

TrialRecord read_trial(const SQLite::Statement& row) {
    TrialRecord trial;
    trial.key = {.device = row.getColumn(0).getInt64(),
                 .kernel_template = row.getColumn(1).getInt64(),
                 .problem = row.getColumn(2).getInt64()};
    trial.configuration = read_text(row.getColumn(3), [](const auto& text) { return parse_configuration(text); });
    if (row.isColumnNull(4)) {
        trial.outcome =
            Rejection{.stage = read_text(row.getColumn(9), [](const auto& text) { return parse_stage(text); }),
                      .reason = row.getColumn(10).getString()};
    } else {
        trial.outcome =
            Measurement{.median_us = row.getColumn(4).getDouble(),
                        .spread_us = row.getColumn(5).getDouble(),
                        .samples_us = read_text(
                            row.getColumn(6),
                            [](const auto& text) { return Json::parse(text).template get<std::vector<double>>(); }),
                        .cut_short = row.getColumn(7).getInt() != 0,
                        .clock_khz = row.getColumn(8).getInt64(),
                        .energy_uj = row.getColumn(18).getDouble()};  // 0 for NULL
    }
    trial.resources = read_resources(row, 11);
    trial.compile_ms = row.getColumn(15).getDouble();
    trial.verify_ms = row.getColumn(16).getDouble();
    trial.time_ms = row.getColumn(17).getDouble();
    trial.run = row.getColumn(19).getInt64();  // 0 for NULL
    return trial;
}

std::string select_rows(const std::string& rest) {
    return "SELECT " + std::string(trial_columns) +
           ", t.id, d.name, k.name, k.hash, p.operation, p.type, p.layout, p.extents, w.decided_at, t.finished_at "
           "FROM trials AS t JOIN devices AS d ON d.id = t.device JOIN templates AS k ON k.id = "
           "t.template "
           "JOIN problems AS p ON p.id = t.problem LEFT JOIN winners AS w ON w.device = t.device AND "
           "w.problem = t.problem AND w.trial = t.id " +
           rest;
}

TrialRow read_row(const SQLite::Statement& row) {
    constexpr int first = after_trial_columns;
    TrialRow result;
    result.record = read_trial(row);
    result.id = row.getColumn(first).getInt64();
    result.device = row.getColumn(first + 1).getString();
    result.kernel_template = row.getColumn(first + 2).getString();
    result.template_hash = row.getColumn(first + 3).getString();
    result.problem.operation = row.getColumn(first + 4).getString();
    result.problem.type = row.getColumn(first + 5).getString();
    result.problem.layout = row.getColumn(first + 6).getString();
    result.problem.extents = read_text(row.getColumn(first + 7), [](const auto& text) {
        decltype(Problem::extents) extents;
        const auto json = Json::parse(text);
        for (const auto& [name, value] : json.items()) {
            extents.emplace_back(name, value.template get<std::int64_t>());
        }
        return extents;
    });
    result.winner = !row.isColumnNull(first + 8);
    result.decided_at = row.getColumn(first + 8).getString();  // empty for NULL
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
}

BinaryRecord read_binary(const SQLite::Statement& row) {
    const auto code = row.getColumn(4);
    const auto* bytes = static_cast<const std::uint8_t*>(code.getBlob());
    return {.kernel_template = row.getColumn(0).getInt64(),
            .configuration = read_text(row.getColumn(1), [](const auto& text) { return parse_configuration(text); }),
            .target = row.getColumn(2).getString(),
            .compiler = row.getColumn(3).getString(),
            .code = {bytes, bytes + code.getBytes()},
            .resources = read_resources(row, 5)};
}

}  // namespace smemtune
