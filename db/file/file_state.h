// Notices that a file changed, without locks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace smemtune {

/// Properties of a database file. Whenever the file changes, at least one of them changes.
struct FileState {
    dev_t device = 0;
    ino_t inode = 0;  ///< with `device`, 0 if there is no such file
    std::int64_t size = 0;
    std::int64_t modified_ns = 0, status_changed_ns = 0;
    bool has_pending_journal = false;

    [[nodiscard]] bool is_same_file(const FileState& other) const {
        return device == other.device && inode == other.inode;
    }
    bool operator==(const FileState&) const = default;
};

FileState state_of(const std::filesystem::path& file);

/// Whether another file has taken the place of the one that was `opened`. False if there is no file.
bool is_replaced(const std::filesystem::path& file, const FileState& opened);

/// The state of a file that is to be read without locks. Waits until the file's time stamps are so old that any later
/// change gives different ones: the filesystem's clock stands still for up to 10 ms.
FileState settled_state_of(const std::filesystem::path& file);

}  // namespace smemtune
