#include "db/file/older_schema.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "db/file/functions.h"

namespace smemtune {

namespace {

struct Column {
    std::string name, default_value;
};

std::vector<Column> columns_of(SQLite::Database& database, const std::string& table) {
    std::vector<Column> columns;
    SQLite::Statement query(database, "SELECT name, coalesce(dflt_value, 'NULL') FROM pragma_table_info(?, 'main')");
    query.bind(1, table);
    while (query.executeStep()) columns.push_back({query.getColumn(0).getString(), query.getColumn(1).getString()});
    return columns;
}

// Returns the SQL text that created a table or view; nothing if the file has no such table or view.
std::optional<std::string> text_of(SQLite::Database& database, const std::string& name) {
    SQLite::Statement query(database, "SELECT sql FROM main.sqlite_schema WHERE name = ?");
    query.bind(1, name);
    return query.executeStep() ? std::optional(query.getColumn(0).getString()) : std::nullopt;
}

// The structs Filled and Removed describe the migration steps that changed existing rows. If such a step has not run on
// a file, a reader sees the file as if the step had run.
//
// A column that a migration step added and filled with `value` in all rows.
struct Filled {
    std::string_view table, column, value;
};
constexpr std::array filled{Filled{"trials", "verified_by", "iif(cut_short = 0, 'unrecorded', NULL)"}};
// A table from which the migration step to version `schema` deleted all rows that do not meet the condition `keeps`.
struct Removed {
    std::string_view table;
    int schema;
    std::string_view keeps;
};
constexpr std::array removed{Removed{"winners", 3, "trial IN (SELECT id FROM main.trials WHERE cut_short = 0)"}};

std::string value_of(const std::string& table, const Column& column) {
    for (const auto& each : filled) {
        if (each.table == table && each.column == column.name) return std::string(each.value);
    }
    return column.default_value;
}

// Returns the WHERE clause that selects the visible rows of a table; empty if all rows are visible.
std::string kept_rows(const std::string& table, int schema) {
    for (const auto& each : removed) {
        if (each.table == table && schema < each.schema) return " WHERE " + std::string(each.keeps);
    }
    return {};
}

// Returns the columns that the table in the file lacks, each as `, default AS name`.
std::string missing_columns(SQLite::Database& database, SQLite::Database& newest, const std::string& table) {
    const auto present = columns_of(database, table);
    std::string missing;
    for (const auto& column : columns_of(newest, table)) {
        bool is_present = false;
        for (const auto& each : present) is_present = is_present || each.name == column.name;
        if (!is_present) missing += ", " + value_of(table, column) + " AS " + column.name;
    }
    return missing;
}

}  // namespace

void present_as_newest(SQLite::Database& database, int schema, Migrations steps) {
    SQLite::Database newest(":memory:", SQLite::OPEN_READWRITE);
    add_functions(newest);
    for (const auto* step : steps) newest.exec(step);

    database.exec("PRAGMA temp_store = MEMORY");
    SQLite::Statement all(newest,
                          "SELECT l.type, l.name, s.sql FROM pragma_table_list AS l JOIN sqlite_schema AS s "
                          "ON s.name = l.name WHERE l.schema = 'main' AND l.type IN ('table', 'view') "
                          "AND s.sql NOT NULL ORDER BY l.type, l.name");
    while (all.executeStep()) {
        const auto type = all.getColumn(0).getString();
        const auto name = all.getColumn(1).getString();
        const auto sql = all.getColumn(2).getString();
        const auto known = text_of(database, name);
        const auto temporary = "CREATE TEMP " + sql.substr(sql.find(' ') + 1);
        if (type == "view") {
            if (known != sql) database.exec(temporary);
        } else if (!known) {
            database.exec(temporary);
        } else {
            const auto missing = missing_columns(database, newest, name);
            const auto kept = kept_rows(name, schema);
            if (missing.empty() && kept.empty()) continue;
            database.exec("CREATE TEMP VIEW " + name + " AS SELECT *" + missing + " FROM main." + name + kept);
        }
    }
}

}  // namespace smemtune
