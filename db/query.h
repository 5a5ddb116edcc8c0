// Runs SQL in one expression: Query(connection, "SELECT ... WHERE id = ?").with(id).first(read).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

namespace smemtune {

struct Connection {
    SQLite::Database database;
    std::unordered_map<std::string, SQLite::Statement> statements{};  ///< prepared statements, by their SQL text
};

/// One use of a prepared statement. The destructor resets the statement, which releases its lock.
class Query {
public:
    Query(Connection& connection, const std::string& sql)
        : statement_(connection.statements.try_emplace(sql, connection.database, sql).first->second) {}
    ~Query() { statement_.tryReset(); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    SQLite::Statement& operator*() { return statement_; }  ///< the statement, for the bind functions of rows.h

    template <class... Values>
    Query& with(const Values&... values) {
        int parameter = 0;
        (statement_.bind(++parameter, values), ...);
        return *this;
    }

    void run() { statement_.exec(); }

    template <class Read>
    auto first(Read read) {
        using Value = decltype(read(std::as_const(statement_)));
        return statement_.executeStep() ? std::optional<Value>(read(statement_)) : std::nullopt;
    }

    template <class Read>
    auto all(Read read) {
        std::vector<decltype(read(std::as_const(statement_)))> values;
        while (statement_.executeStep()) values.push_back(read(statement_));
        return values;
    }

    /// Returns the results of `read` for all rows, without the rows for which `read` throws `Skipped`. Calls `on_skip`
    /// with each exception.
    template <class Skipped, class Read, class OnSkip>
    auto all_but(Read read, OnSkip on_skip) {
        std::vector<decltype(read(std::as_const(statement_)))> values;
        while (statement_.executeStep()) {
            try {
                values.push_back(read(statement_));
            } catch (const Skipped& skipped) {
                on_skip(skipped);
            }
        }
        return values;
    }
    template <class Skipped, class Read>
    auto all_but(Read read) {
        return all_but<Skipped>(read, [](const Skipped&) {});
    }

private:
    SQLite::Statement& statement_;
};

/// A transaction that takes the write lock before it reads. Two processes that first read and then write would
/// otherwise block each other, and SQLite would let one of them fail.
struct WriteTransaction : SQLite::Transaction {
    explicit WriteTransaction(Connection& connection)
        : SQLite::Transaction(connection.database, SQLite::TransactionBehavior::IMMEDIATE) {}
};

inline std::int64_t read_id(const SQLite::Statement& row) { return row.getColumn(0).getInt64(); }

}  // namespace smemtune
