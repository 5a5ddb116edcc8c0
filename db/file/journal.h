// SQLite's journal modes: which mode works on which filesystem, and how to change a file's mode.
#pragma once

#include <chrono>
#include <filesystem>

#include <SQLiteCpp/Database.h>

namespace smemtune {

enum class Journal {
    wal,       ///< write-ahead log: readers and a writer work at once; needs memory shared between processes
    rollback,  ///< rollback journal: slower, but works on every filesystem with file locks
};

/// Chooses the journal mode for a filesystem, by the `f_type` of `statfs`. A write-ahead log does not work on network
/// filesystems, because they share no memory between hosts (https://www.sqlite.org/wal.html, "Overview"). There is no
/// complete list of network filesystems. Therefore only filesystems that are known to be local get a write-ahead log.
Journal journal_for(long filesystem_type);

/// Chooses the journal mode for `file`, by the filesystem of its directory. The file need not exist.
Journal journal_at(const std::filesystem::path& file);

/// Whether the header of the database file says that it is in WAL mode. Takes no lock and creates no file.
bool is_in_wal_mode(const std::filesystem::path& file);

/// Sets the journal mode, and decides which writes SQLite flushes to disk. Precondition: if `journal` is `rollback`,
/// the database is not in WAL mode.
void set_journal(SQLite::Database& database, Journal journal);

/// Enables or disables the checkpoint on closing, by which the last connection moves the write-ahead log into the
/// database file. Disable the checkpoint before smemtune rejects a file, because a rejected file must not change.
void checkpoint_on_close(SQLite::Database& database, bool enabled);

/// Whether a `-wal` or `-journal` file that is not empty lies beside the database file. The process that wrote the
/// journal was killed or is still running.
bool has_pending_journal(const std::filesystem::path& file);

/// Opens the database for reading, without locks, without recovery and without its journal files. Queries give correct
/// results only while no process writes the file.
SQLite::Database open_immutable(const std::filesystem::path& file);

/// Opens the database for reading under SQLite's locks. Never creates a file, because the database's owner might have
/// no access to a file that a reader created. In WAL mode, another process must have created the shared memory.
SQLite::Database open_beside_writers(const std::filesystem::path& file, std::chrono::milliseconds patience);

}  // namespace smemtune
