// Opens a file for reading, beside others that may write it at any moment.
//
// A reader uses SQLite's locks if it can write the file, if it finds the log's shared memory, or if there is a rollback
// journal. Other readers read the file alone, while its log is empty. What they read holds only if the file did not
// change meanwhile (OpenDatabase::is_locked).
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
    database.exec("PRAGMA query_only = OFF");  // the views are temporary
    if (static_cast<std::size_t>(version) < request.steps.size()) present_as_newest(database, version, request.steps);
    database.exec("PRAGMA query_only = ON");
    return {std::move(database), version, state, is_locked};
}

bool lacks_shared_memory(const OpenRequest& request) {
    return request.options.rollback_journal || journal_at(request.file) == Journal::rollback;
}

// Whether the file can be read without locks. Its log must be empty and stay empty: either no process has the file
// open, or no process can open its log. Otherwise a reader without write access would have to create files that the
// owner might have no access to.
bool is_at_rest(const OpenRequest& request) {
    if (!is_in_wal_mode(request.file) || has_pending_journal(request.file)) return false;
    return lacks_shared_memory(request) || (!is_writable(request.file) && !fs::exists(request.file.string() + "-shm"));
}

// Nothing if the file is not at rest.
std::optional<OpenDatabase> open_at_rest(const OpenRequest& request) {
    const auto state = settled_state_of(request.file);
    if (!is_at_rest(request)) return std::nullopt;
    try {
        auto opened = checked(request, open_immutable(request.file), state, /*is_locked=*/false);
        if (state_of(request.file) == state) return opened;
    } catch (const std::exception&) {
        if (state_of(request.file) == state) throw;  // otherwise it was read while it changed
    }
    return std::nullopt;
}

// Opens for writing if permitted, though nothing is written. SQLite can then recover the log of a killed process and
// remove the log's files on closing.
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
        // A writer may have opened or closed the file between the two checks.
        if (attempt == 10) {
            request.fail(
                "has unfinished work beside it, of a killed process or of one on another host, which cannot be read "
                "from here; wait for that process, or copy the file together with its -wal or -journal file to a "
                "writable directory");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace smemtune
