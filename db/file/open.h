// Opens the database file. Checks the file completely before changing it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <SQLiteCpp/Database.h>

#include "db/file/file_state.h"
#include "db/file/schema.h"
#include "db/store.h"

namespace smemtune {

/// The database file to open, and the options for opening it.
struct OpenRequest {
    std::filesystem::path name;  ///< the path as the user wrote it, for messages
    std::filesystem::path file;  ///< the absolute path without symbolic links; SQLite puts the journal beside this file
    StoreOptions options;
    Migrations steps;

    [[noreturn]] void fail(const std::string& what) const { throw StoreError(name.string() + ": " + what); }
};
OpenRequest open_request(const std::filesystem::path& path, const StoreOptions& options,
                         Migrations steps = migrations());

struct OpenDatabase {
    SQLite::Database database;
    int schema = 0;    ///< the file's schema version; views show an older file in the newest schema
    FileState opened;  ///< the state of the file when it was opened
    /// Whether the connection uses SQLite's locks, which keep query results consistent. Without locks, a result is
    /// valid only if the file is still in the state `opened` after the last row was read.
    bool is_locked = true;
};

/// Opens and checks the file; for Access::write, also creates or migrates the file. Several processes may do so at
/// once. If the file cannot be used, throws StoreError and leaves the file as it was.
OpenDatabase open_file(const OpenRequest& request, Store::Access access);
SQLite::Database open_database(const std::filesystem::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps = migrations());

/// Returns the schema version, or 0 if the database is empty. Throws StoreError if the file is not a smemtune database,
/// or if a newer smemtune wrote the file and this version cannot use it for `access`.
int check_identity(const OpenRequest& request, SQLite::Database& database, Store::Access access);
void check_pages(const OpenRequest& request, SQLite::Database& database);
SQLite::Database connect(const OpenRequest& request, int flags);
/// Switches a file from WAL mode to a rollback journal, for a filesystem without shared memory.
void leave_wal_mode(const OpenRequest& request);

/// Opens the file for reading. Precondition: the file is not empty.
OpenDatabase open_for_reading(const OpenRequest& request);

/// Returns a message of one line for a SQLite error: path, what is wrong, remedy.
std::string explain(const std::filesystem::path& path, const SQLite::Exception& error,
                    std::chrono::milliseconds patience);

/// Returns a message of one line for a corrupt database: path, what is wrong (`detail`), remedy.
std::string explain_corrupt(const std::filesystem::path& path, const std::string& detail);

}  // namespace smemtune
