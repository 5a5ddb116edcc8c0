// Opens the database file. Reports everything that is wrong with the file before anything is changed.
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

/// What to open, and how.
struct OpenRequest {
    std::filesystem::path name;  ///< as the user wrote it, for messages
    std::filesystem::path file;  ///< absolute, symbolic links followed: SQLite keeps its other files beside this one
    StoreOptions options;
    Migrations steps;

    [[noreturn]] void fail(const std::string& what) const { throw StoreError(name.string() + ": " + what); }
};
OpenRequest open_request(const std::filesystem::path& path, const StoreOptions& options,
                         Migrations steps = migrations());

struct OpenDatabase {
    SQLite::Database database;
    int schema = 0;    ///< the version in the file; the tables of an older one look like the newest
    FileState opened;  ///< the state of the file when it was opened
    /// Whether SQLite's locks keep a reader's answers consistent. Otherwise an answer holds only if the file is still
    /// in the state `opened` after the last row was read.
    bool is_locked = true;
};

/// Opens and checks the file; for Access::write, also creates or migrates it. Several processes may call this at once.
/// Throws StoreError and leaves the file as it was.
OpenDatabase open_file(const OpenRequest& request, Store::Access access);
SQLite::Database open_database(const std::filesystem::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps = migrations());

/// The steps of opening that readers and writers share.
/// `check_identity`: the schema version; 0 if the database is empty. Throws StoreError if the file is not a database of
/// smemtune, or of a newer smemtune that this one cannot use for `access`.
int check_identity(const OpenRequest& request, SQLite::Database& database, Store::Access access);
void check_pages(const OpenRequest& request, SQLite::Database& database);
SQLite::Database connect(const OpenRequest& request, int flags);
/// Takes a file out of WAL mode, for a filesystem without shared memory.
void leave_wal_mode(const OpenRequest& request);

/// Opens for reading. Precondition: the file has content.
OpenDatabase open_for_reading(const OpenRequest& request);

/// Explains a SQLite error in one line: path, what is wrong, remedy.
std::string explain(const std::filesystem::path& path, const SQLite::Exception& error,
                    std::chrono::milliseconds patience);

/// Explains content that smemtune cannot have written, in the same form.
std::string explain_corrupt(const std::filesystem::path& path, const std::string& detail);

}  // namespace smemtune
