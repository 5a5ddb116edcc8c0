// Detects without locks that a file changed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace smemtune {

/// Properties of a database file that show whether the file changed. They can miss a change that shortly follows
/// another change (see settled_state_of()).
struct FileState {
    dev_t device = 0;
    ino_t inode = 0;  ///< inode number; 0, like `device`, if the file does not exist
    std::int64_t size = 0;
    std::int64_t modified_ns = 0, status_changed_ns = 0;
    bool has_pending_journal = false;

    [[nodiscard]] bool is_same_file(const FileState& other) const {
        return device == other.device && inode == other.inode;
    }
    bool operator==(const FileState&) const = default;
};

FileState state_of(const std::filesystem::path& file);

/// The states of a database file and of its write-ahead log. In both, has_pending_journal is false, because states_of()
/// does not determine it.
struct FilesState {
    FileState file, log;

    /// Whether the file exists, and every write from now on changes this state. On a local filesystem, this is so if
    /// the last write to either file was at least 3 s ago: time stamps advance in steps of at most 2 s.
    [[nodiscard]] bool is_settled() const;
    bool operator==(const FilesState&) const = default;
};

/// `log` is the path of the write-ahead log. It is empty for a file with a rollback journal, because each commit then
/// changes the database file itself.
FilesState states_of(const std::filesystem::path& file, const std::filesystem::path& log);

/// Whether the path `file` now belongs to another file than the one whose state is `opened`. False if no file has this
/// path.
bool is_replaced(const std::filesystem::path& file, const FileState& opened);

/// Returns the state of a file that will be read without locks. First waits, for at most 20 ms, until the file's last
/// change is 20 ms old. Reason: on most filesystems, time stamps advance in steps of up to 10 ms, so two changes in
/// quick succession can have the same time stamp.
FileState settled_state_of(const std::filesystem::path& file);

}  // namespace smemtune
