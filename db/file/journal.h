// SQLite's journal modes: which one works on which filesystem, and how a file moves between them.
#pragma once

#include <filesystem>

#include <SQLiteCpp/Database.h>

namespace smemtune {

enum class Journal {
    wal,       ///< write-ahead log: readers and a writer side by side; needs memory shared between the processes
    rollback,  ///< works wherever file locks do
};

/// By `statfs` f_type: network filesystems share no memory between hosts (https://www.sqlite.org/wal.html, "Overview").
/// Unknown ones are taken for local.
Journal journal_for(long filesystem_type);

/// The same by the filesystem that holds `file`, or would hold it.
Journal journal_at(const std::filesystem::path& file);

/// Whether the file's header says so. Takes no lock and leaves no trace.
bool is_in_wal_mode(const std::filesystem::path& file);

/// Sets journal mode and durability. Precondition: the database is not in WAL mode if `journal` is rollback.
void set_journal(SQLite::Database& database, Journal journal);

/// The last connection to close normally checkpoints: it moves the log into the file. That is disabled for a file that
/// is refused, so that it stays as it was.
void checkpoint_on_close(SQLite::Database& database, bool enabled);

/// Whether content lies beside the file, in a journal of a process that was killed or is still running.
bool has_pending_journal(const std::filesystem::path& file);

/// Reads the file alone: no locks, no recovery, no other files. Correct only while nobody writes.
SQLite::Database open_immutable(const std::filesystem::path& file);

}  // namespace smemtune
