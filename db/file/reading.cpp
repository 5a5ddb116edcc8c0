// Opens a database file for reading, while other processes may write it.
//
// A file with a rollback journal is read under SQLite's locks. A file in WAL mode is read under locks if the filesystem
// has shared memory, and the reader either has write access or finds the log's shared memory. Any other file in WAL
// mode is read without locks, and only while its log is empty. If the log is not empty but the reader has write access,
// the reader switches the file to a rollback journal (leave_wal_mode) and reads it under locks. A result that was read
// without locks is valid only if the file did not change meanwhile (OpenDatabase::is_locked).
#include <fcntl.h>
#include <unistd.h>

#include <system_error>
#include <thread>

#include <sqlite3.h>

#include "db/file/journal.h"
#include "db/file/older_schema.h"
#include "db/file/open.h"

namespace smemtune {

namespace fs = std::filesystem;

namespace {

bool is_writable(const fs::path& file) {
    const auto is_accessible = [](const fs::path& path, int mode) {
        return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
    };
    return is_accessible(file, W_OK) && is_accessible(file.parent_path(), W_OK | X_OK);
}

OpenDatabase checked(const OpenRequest& request, SQLite::Database database, const FileState& state, bool is_locked) {
    database.exec("PRAGMA query_only = ON");
    check_pages(request, database);
    const int version = check_identity(request, database, Store::Access::read);
    if (version == 0) request.fail("is an empty database; tune into it first, or choose another file");
    database.exec("PRAGMA query_only = OFF");  // writable again, because present_as_newest() creates temporary views
    if (static_cast<std::size_t>(version) < request.steps.size()) present_as_newest(database, version, request.steps);
    database.exec("PRAGMA query_only = ON");
    return {std::move(database), version, state, is_locked};
}

bool lacks_shared_memory(const OpenRequest& request) {
    return request.options.rollback_journal || journal_at(request.file) == Journal::rollback;
}

// Whether to read the file without locks. The write-ahead log must be empty and stay empty. It stays empty if no
// process has the file open, or if the filesystem has no shared memory, because then no process can write the log.
// Locks are avoided for a file with an empty log, because SQLite would create files to lock it. The database's owner
// might have no access to files that a reader created.
bool is_at_rest(const OpenRequest& request) {
    if (!is_in_wal_mode(request.file) || has_pending_journal(request.file)) return false;
    return lacks_shared_memory(request) || (!is_writable(request.file) && !fs::exists(request.file.string() + "-shm"));
}

// Opens the file without locks. Returns nothing if is_at_rest() forbids this, or if the file changed meanwhile.
std::optional<OpenDatabase> open_at_rest(const OpenRequest& request) {
    const auto state = settled_state_of(request.file);
    if (!is_at_rest(request)) return std::nullopt;
    try {
        auto opened = checked(request, open_immutable(request.file), state, /*is_locked=*/false);
        if (state_of(request.file) == state) return opened;
    } catch (const std::exception&) {
        if (state_of(request.file) == state) throw;  // if the file has changed, the caller tries again
    }
    return std::nullopt;
}

// Opens the file with write access if that is permitted, although smemtune writes nothing. With write access, SQLite
// can recover the log of a killed process, and can remove the log's files on closing.
OpenDatabase open_locked(const OpenRequest& request) {
    const auto state = state_of(request.file);
    if (!is_writable(request.file)) {
        return checked(request, open_beside_writers(request.file, request.options.patience), state, true);
    }
    if (lacks_shared_memory(request)) leave_wal_mode(request);
    auto opened = checked(request, connect(request, SQLite::OPEN_READWRITE), state, true);
    checkpoint_on_close(opened.database, true);
    return opened;
}

}  // namespace

OpenDatabase open_for_reading(const OpenRequest& request) {
    for (int attempt = 0;; ++attempt) {
        if (auto opened = open_at_rest(request)) return *std::move(opened);
        const bool uses_unreachable_log =
            lacks_shared_memory(request) && !is_writable(request.file) && is_in_wal_mode(request.file);
        try {
            if (!uses_unreachable_log) return open_locked(request);
        } catch (const SQLite::Exception& error) {
            const int code = error.getErrorCode() & 0xff;
            if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
        }
        // Reading failed both under locks and without locks. A writer may have opened or closed the file between the
        // two attempts, so try both again.
        if (attempt == 10) {
            request.fail(
                "has changes in its -wal or -journal file that cannot be read from here, because their writer was "
                "killed or runs on another host; wait for the writer, or copy the file together with its -wal or "
                "-journal file to a writable directory");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace smemtune
