// How SQLite keeps its promise of all or nothing, and where each way works.
#pragma once

#include <filesystem>

#include <SQLiteCpp/Database.h>

namespace smemtune {

enum class Journal {
    log,       ///< SQLite's WAL: readers and a writer side by side; needs memory shared between the processes
    rollback,  ///< works wherever file locks do
};

/// By `statfs` f_type: network filesystems share no memory between hosts (https://www.sqlite.org/wal.html, "Overview").
/// Unknown ones are taken for local.
Journal journal_for(long filesystem_type);

/// The same for where `file` is, or would be.
Journal journal_at(const std::filesystem::path& file);

/// What the file says of itself. Takes no lock and leaves no trace.
bool is_in_log_mode(const std::filesystem::path& file);

/// Sets mode and durability of an open database that is not in log mode where it must not be.
void set_journal(SQLite::Database& database, Journal journal);

/// Normally the last one to close moves the log into the file. One that is turned away must stay as it was.
void move_log_on_close(SQLite::Database& database, bool enabled);

/// Whether a process that was killed, or is still there, has content outside the file.
bool has_leftovers(const std::filesystem::path& file);

/// Reads the file as it lies there: no locks, no recovery, no other files. Right for as long as nobody writes.
SQLite::Database open_immutable(const std::filesystem::path& file);

}  // namespace smemtune
