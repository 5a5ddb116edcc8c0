// Opening takes four steps: check the path; peek at the content without creating files; check the content under
// SQLite's locks; and only then create, migrate or change the journal.
#include "db/file/open.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include "db/file/journal.h"

namespace smemtune {

namespace fs = std::filesystem;

namespace {

// A file up to this size has all its pages checked when it is opened, in about 20 ms. Damage in a larger file is found
// when the damaged page is read.
constexpr std::int64_t largest_checked_bytes = 4 << 20;

// The arguments of open_database.
struct Request {
    fs::path name;  // as the user wrote it, for messages
    fs::path file;  // absolute, symbolic links followed: SQLite keeps its other files beside this one
    StoreOptions options;
    Migrations steps;

    [[noreturn]] void fail(const std::string& what) const { throw StoreError(name.string() + ": " + what); }
};

bool is_accessible(const fs::path& file, int mode) { return faccessat(AT_FDCWD, file.c_str(), mode, AT_EACCESS) == 0; }

// Whether the file exists with any content.
bool look_at(const Request& request) {
    std::error_code error;
    const auto status = fs::status(request.file, error);
    if (status.type() == fs::file_type::not_found) return false;
    if (error) request.fail("cannot be accessed (" + error.message() + "); check the path and its permissions");
    if (status.type() == fs::file_type::directory) {
        request.fail("is a directory, not a database; give the path of a file in it");
    }
    if (status.type() != fs::file_type::regular) request.fail("is not a regular file; choose another path");
    if (!is_accessible(request.file, R_OK)) {
        request.fail("cannot be read (" + std::string(std::strerror(errno)) + "); check its permissions");
    }
    return fs::file_size(request.file) > 0;
}

void prepare_to_write(const Request& request) {
    const auto directory = request.file.parent_path();
    if (!fs::exists(request.file)) {
        std::error_code error;
        fs::create_directories(directory, error);
        if (error) request.fail("its directory cannot be created (" + error.message() + "); choose another path");
    } else if (!is_accessible(request.file, W_OK)) {
        request.fail("is read-only (" + std::string(std::strerror(errno)) + "); make it writable, or choose another");
    }
    if (!is_accessible(directory, W_OK | X_OK)) {  // SQLite needs to create files beside it
        request.fail("is in a read-only directory (" + std::string(std::strerror(errno)) +
                     "); make the directory writable, or choose another");
    }
}

// The schema version; 0 if the database is empty. Throws StoreError if the file is not a database of smemtune.
int check_identity(const Request& request, SQLite::Database& database) {
    const int id = database.execAndGet("PRAGMA application_id").getInt();
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    const bool is_empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (is_empty && version == 0 && (id == 0 || id == application_id)) return 0;
    if (id != application_id || version < 1) {
        request.fail("is a SQLite database, but not smemtune's; choose another file");
    }
    const auto known = static_cast<int>(request.steps.size());
    if (version > known) {
        request.fail("was written by a newer smemtune (schema " + std::to_string(version) + ", this one knows up to " +
                     std::to_string(known) + "); update smemtune, or choose another file");
    }
    return version;
}

// Refuses a foreign or newer file before SQLite locks, recovers or creates anything. It reads through SQLite
// nevertheless: closing a file descriptor of our own would drop the locks of this process's other Stores.
void peek(const Request& request) {
    try {
        auto database = open_immutable(request.file);
        check_identity(request, database);
    } catch (const SQLite::Exception&) {
        // The file is damaged, or is being written at this moment. The check under locks tells which.
    }
}

void check_pages(const Request& request, SQLite::Database& database) {
    database.exec("PRAGMA cell_size_check = ON");
    const auto bytes =
        database.execAndGet("PRAGMA page_count").getInt64() * database.execAndGet("PRAGMA page_size").getInt64();
    if (bytes > largest_checked_bytes) return;
    const auto verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
    if (verdict != "ok") throw StoreError(explain_corrupt(request.name, verdict));
}

SQLite::Database connect(const Request& request, int flags) {
    SQLite::Database database(request.file.string(), flags, static_cast<int>(request.options.patience.count()));
    if (has_pending_journal(request.file)) checkpoint_on_close(database, false);
    return database;
}

// Takes a file out of WAL mode, which it got on a local disk: there is no shared memory on this filesystem. An
// exclusive lock makes the log readable without shared memory. Two processes that wait for the lock could deadlock, so
// each one tries, releases and retries.
void leave_wal_mode(const Request& request) {
    const auto deadline = std::chrono::steady_clock::now() + request.options.patience;
    while (is_in_wal_mode(request.file)) {
        try {
            auto database = connect(request, SQLite::OPEN_READWRITE);
            database.setBusyTimeout(0);
            database.exec("PRAGMA locking_mode = EXCLUSIVE");
            check_pages(request, database);
            check_identity(request, database);
            checkpoint_on_close(database, true);
            database.exec("PRAGMA journal_mode = DELETE");
            return;
        } catch (const SQLite::Exception& error) {
            const bool is_busy = (error.getErrorCode() & 0xff) == SQLITE_BUSY;
            if (!is_busy || std::chrono::steady_clock::now() > deadline) throw;
            std::this_thread::sleep_for(
                std::chrono::milliseconds(5 + getpid() % 16));  // differs between processes, to avoid retries in step
        }
    }
}

// Each step commits together with its version number. After a kill, or for a second process, the step is either done or
// not begun.
void migrate(const Request& request, SQLite::Database& database) {
    for (;;) {
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        const auto version = static_cast<std::size_t>(check_identity(request, database));
        if (version == request.steps.size()) return;
        database.exec(request.steps[version]);
        if (SQLite::Statement(database, "PRAGMA foreign_key_check").executeStep()) {
            request.fail("cannot be brought to schema " + std::to_string(version + 1) +
                         ", for it has rows that refer to missing ones; tune into another file");
        }
        database.exec("PRAGMA user_version = " + std::to_string(version + 1));
        transaction.commit();
    }
}

SQLite::Database open_for_writing(const Request& request, bool has_content) {
    const auto journal = request.options.rollback_journal ? Journal::rollback : journal_at(request.file);
    if (journal == Journal::rollback && has_content) leave_wal_mode(request);
    auto database = connect(request, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    check_pages(request, database);
    migrate(request, database);
    checkpoint_on_close(database, true);
    set_journal(database, journal);
    database.exec("PRAGMA foreign_keys = ON");  // only now: a migration may rebuild a table
    return database;
}

void check_readable(const Request& request, SQLite::Database& database) {
    database.exec("PRAGMA query_only = ON");
    check_pages(request, database);
    const auto version = static_cast<std::size_t>(check_identity(request, database));
    if (version == 0) request.fail("is an empty database; tune into it first, or choose another file");
    if (version < request.steps.size()) {
        request.fail("was written by an older smemtune (schema " + std::to_string(version) + ", this one reads " +
                     std::to_string(request.steps.size()) + "); tune into it once, which brings it up to date");
    }
}

SQLite::Database open_unchanging(const Request& request) {
    auto database = open_immutable(request.file);
    check_readable(request, database);
    return database;
}

// Whether the file can be read without locks. Its log must be empty and stay empty: either no process has the file
// open, or no process can open its log. Otherwise a reader without write access would have to create files, which would
// lock the owner out.
bool is_at_rest(const Request& request) {
    if (!is_in_wal_mode(request.file) || has_pending_journal(request.file)) return false;
    if (request.options.rollback_journal || journal_at(request.file) == Journal::rollback) return true;
    const bool is_writable =
        is_accessible(request.file, W_OK) && is_accessible(request.file.parent_path(), W_OK | X_OK);
    return !is_writable && !fs::exists(request.file.string() + "-shm");
}

// Opens for writing if permitted, though nothing is written. SQLite can then recover the log of a killed process and
// remove the log's files on closing.
SQLite::Database open_for_reading(const Request& request) {
    if (is_at_rest(request)) return open_unchanging(request);
    try {
        auto database = connect(request, SQLite::OPEN_READWRITE);
        check_readable(request, database);
        checkpoint_on_close(database, true);
        return database;
    } catch (const SQLite::Exception& error) {
        const int code = error.getErrorCode() & 0xff;
        if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
    }
    if (has_pending_journal(request.file)) {
        request.fail(
            "has unfinished work of a killed process beside it, which cannot be recovered read-only; copy it "
            "together with its -wal or -journal file to a writable directory");
    }
    return open_unchanging(request);
}

}  // namespace

SQLite::Database open_database(const fs::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps) {
    if (path.empty()) throw StoreError("the path of the database is empty; give the path of a file");
    try {
        std::error_code unreachable;
        auto file = fs::weakly_canonical(fs::absolute(path), unreachable);
        if (unreachable) file = fs::absolute(path);
        const Request request{path, file, options, steps};
        const bool has_content = look_at(request);
        if (has_content) peek(request);
        if (access == Store::Access::write) {
            prepare_to_write(request);
            return open_for_writing(request, has_content);
        }
        if (!has_content) {
            request.fail(fs::exists(file) ? "is empty, not a database; tune into it first, or choose another file"
                                          : "does not exist; tune first, or check the path");
        }
        return open_for_reading(request);
    } catch (const SQLite::Exception& error) {
        throw StoreError(explain(path, error, options.patience));
    } catch (const fs::filesystem_error& error) {
        throw StoreError(path.string() + ": cannot be accessed (" + error.code().message() + "); check the path");
    }
}

}  // namespace smemtune
