// Opens a database in four steps:
//   1. check the path;
//   2. check the content without locks and without creating files;
//   3. check the content under SQLite's locks;
//   4. create or migrate the file, and set its journal mode.
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

#include "db/file/functions.h"
#include "db/file/journal.h"

namespace smemtune {

namespace fs = std::filesystem;

namespace {

// Returns the lowest schema version that a program must know to read the file. Returns nothing if the file is so old
// that it lacks the table `compatibility`.
std::optional<int> oldest_reader(SQLite::Database& database) {
    if (!database.tableExists("compatibility")) return std::nullopt;
    return database.execAndGet("SELECT oldest_reader FROM compatibility").getInt();
}

// In files up to this size, opening checks all pages, which takes about 20 ms. In a larger file, damage is found only
// when the damaged page is read.
constexpr std::int64_t largest_checked_bytes = 4 << 20;

bool is_accessible(const fs::path& file, int mode) { return faccessat(AT_FDCWD, file.c_str(), mode, AT_EACCESS) == 0; }

// Returns whether the file exists and is not empty. Fails if it exists but is no readable regular file.
bool look_at(const OpenRequest& request) {
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

void prepare_to_write(const OpenRequest& request) {
    const auto directory = request.file.parent_path();
    if (!fs::exists(request.file)) {
        std::error_code error;
        fs::create_directories(directory, error);
        if (error) request.fail("its directory cannot be created (" + error.message() + "); choose another path");
    } else if (!is_accessible(request.file, W_OK)) {
        request.fail("is read-only (" + std::string(std::strerror(errno)) + "); make it writable, or choose another");
    }
    if (!is_accessible(directory, W_OK | X_OK)) {  // SQLite creates files beside the database
        request.fail("is in a read-only directory (" + std::string(std::strerror(errno)) +
                     "); make the directory writable, or choose another");
    }
}

// Rejects a file of another program or of a newer smemtune, before SQLite locks, recovers or creates anything. Reads
// the file through SQLite and not with open(2). Closing a descriptor of our own would drop the locks that other Stores
// of this process hold on the file.
void peek(const OpenRequest& request, Store::Access access) {
    try {
        auto database = open_immutable(request.file);
        check_identity(request, database, access);
    } catch (const SQLite::Exception&) {
        // Either the file is damaged, or another process is writing it. The later check under locks finds out which.
    }
}

}  // namespace

int check_identity(const OpenRequest& request, SQLite::Database& database, Store::Access access) {
    const int id = database.execAndGet("PRAGMA application_id").getInt();
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    const bool is_empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (is_empty && version == 0 && (id == 0 || id == application_id)) return 0;
    if (id != application_id || version < 1) {
        request.fail("is a SQLite database, but not smemtune's; choose another file");
    }
    const auto known = static_cast<int>(request.steps.size());
    if (version <= known) return version;
    const auto described =
        " (schema " + std::to_string(version) + ", this one knows up to " + std::to_string(known) + ")";
    const int oldest = oldest_reader(database).value_or(version);
    if (oldest > known) {
        request.fail("was written by a newer smemtune" + described + "; update smemtune, or choose another file");
    }
    if (access == Store::Access::write) {
        request.fail("was extended by a newer smemtune" + described +
                     "; this one can read it, but not tune into it: update smemtune, or choose another file");
    }
    return version;
}

void check_pages(const OpenRequest& request, SQLite::Database& database) {
    database.exec("PRAGMA cell_size_check = ON");
    const auto bytes =
        database.execAndGet("PRAGMA page_count").getInt64() * database.execAndGet("PRAGMA page_size").getInt64();
    if (bytes > largest_checked_bytes) return;
    const auto verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
    if (verdict != "ok") throw StoreError(explain_corrupt(request.name, verdict));
}

SQLite::Database connect(const OpenRequest& request, int flags) {
    SQLite::Database database(request.file.string(), flags, static_cast<int>(request.options.patience.count()));
    prepare_connection(database);
    if (has_pending_journal(request.file)) checkpoint_on_close(database, false);
    return database;
}

// Switches a file from WAL mode to a rollback journal. Needed if the file was moved from a local disk to a filesystem
// without shared memory. With an exclusive lock, SQLite can read the log without shared memory. Two processes that wait
// for this lock could deadlock, so a process that does not get the lock closes the file and tries again.
void leave_wal_mode(const OpenRequest& request) {
    const auto deadline = std::chrono::steady_clock::now() + request.options.patience;
    while (is_in_wal_mode(request.file)) {
        try {
            auto database = connect(request, SQLite::OPEN_READWRITE);
            database.setBusyTimeout(0);
            database.exec("PRAGMA locking_mode = EXCLUSIVE");
            check_pages(request, database);
            check_identity(request, database, Store::Access::read);
            checkpoint_on_close(database, true);
            database.exec("PRAGMA journal_mode = DELETE");
            return;
        } catch (const SQLite::Exception& error) {
            const bool is_busy = (error.getErrorCode() & 0xff) == SQLITE_BUSY;
            if (!is_busy || std::chrono::steady_clock::now() > deadline) throw;
            std::this_thread::sleep_for(
                std::chrono::milliseconds(5 + getpid() % 16));  // each process waits for a different time
        }
    }
}

namespace {

// Each migration step and its version number are committed in one transaction. Therefore a step is either complete or
// not begun, even if the process is killed or a second process migrates the same file.
void migrate(const OpenRequest& request, SQLite::Database& database) {
    for (;;) {
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        const auto version = static_cast<std::size_t>(check_identity(request, database, Store::Access::write));
        if (version == request.steps.size()) return;
        database.exec(request.steps[version]);
        if (SQLite::Statement(database, "PRAGMA foreign_key_check").executeStep()) {
            request.fail("cannot be brought to schema " + std::to_string(version + 1) +
                         ", because it has rows that refer to missing ones; tune into another file");
        }
        database.exec("PRAGMA user_version = " + std::to_string(version + 1));
        transaction.commit();
    }
}

SQLite::Database open_for_writing(const OpenRequest& request, bool has_content) {
    const auto journal = request.options.rollback_journal ? Journal::rollback : journal_at(request.file);
    if (journal == Journal::rollback && has_content) leave_wal_mode(request);
    auto database = connect(request, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    check_pages(request, database);
    migrate(request, database);
    checkpoint_on_close(database, true);
    set_journal(database, journal);
    database.exec("PRAGMA foreign_keys = ON");  // set after migrate(), because a migration may rebuild a table
    return database;
}

}  // namespace

OpenRequest open_request(const fs::path& path, const StoreOptions& options, Migrations steps) {
    if (path.empty()) throw StoreError("the path of the database is empty; give the path of a file");
    std::error_code unreachable;
    auto file = fs::weakly_canonical(fs::absolute(path), unreachable);
    if (unreachable) file = fs::absolute(path);
    return {path, std::move(file), options, steps};
}

OpenDatabase open_file(const OpenRequest& request, Store::Access access) {
    try {
        const bool has_content = look_at(request);
        if (request.options.before_opening && fs::exists(request.file)) request.options.before_opening(request.file);
        if (has_content) peek(request, access);
        if (access == Store::Access::write) {
            prepare_to_write(request);
            auto database = open_for_writing(request, has_content);
            return {std::move(database), static_cast<int>(request.steps.size()), state_of(request.file)};
        }
        if (!has_content) {
            request.fail(fs::exists(request.file)
                             ? "is empty, not a database; tune into it first, or choose another file"
                             : "does not exist; tune first, or check the path");
        }
        return open_for_reading(request);
    } catch (const SQLite::Exception& error) {
        throw StoreError(explain(request.name, error, request.options.patience));
    } catch (const fs::filesystem_error& error) {
        throw StoreError(request.name.string() + ": cannot be accessed (" + error.code().message() +
                         "); check the path");
    }
}

SQLite::Database open_database(const fs::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps) {
    return open_file(open_request(path, options, steps), access).database;
}

}  // namespace smemtune
