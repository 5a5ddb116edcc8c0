// SQLite's journal modes: which mode works on which filesystem, and how to change a file's mode.
#pragma once

#include <chrono>
#include <filesystem>

#include <SQLiteCpp/Database.h>

namespace smemtune {

enum class Journal {
    wal,       ///< write-ahead log: readers beside a writer; needs memory shared between the processes
    rollback,  ///< works wherever file locks work
};

/// Chooses by the f_type of `statfs`: network filesystems share no memory between hosts
/// (https://www.sqlite.org/wal.html, "Overview"). There is no list of all network filesystems, so those that are not
/// known to be local get a rollback journal, which is slower and works everywhere.
Journal journal_for(long filesystem_type);

/// Chooses by the filesystem that holds `file`, or would hold it.
Journal journal_at(const std::filesystem::path& file);

/// Whether the file's header says WAL. Takes no lock and creates no file.
bool is_in_wal_mode(const std::filesystem::path& file);

/// Sets journal mode and durability. Precondition: the database is not in WAL mode if `journal` is rollback.
void set_journal(SQLite::Database& database, Journal journal);

/// Enables or disables the checkpoint that the last connection makes when it closes, and that moves the log into the
/// file. Disable it for a refused file, so that the file stays as it was.
void checkpoint_on_close(SQLite::Database& database, bool enabled);

/// Whether a journal with content lies beside the file. Its process was killed or is still running.
bool has_pending_journal(const std::filesystem::path& file);

/// Reads the file alone: no locks, no recovery, no other files. Correct only while nobody writes.
SQLite::Database open_immutable(const std::filesystem::path& file);

/// Reads under SQLite's locks. Never creates a file, because the database's owner might have no access to a file that a
/// reader created. In WAL mode, another process must have created the shared memory.
SQLite::Database open_beside_writers(const std::filesystem::path& file, std::chrono::milliseconds patience);

}  // namespace smemtune
