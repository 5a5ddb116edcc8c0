// A temporary folder that is removed with its contents.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace smemtune {

/// A new folder where the system keeps temporary files. The destructor removes the folder with its contents. A process
/// that is killed leaves its folders behind. When a later process makes its first folder, it removes such folders if
/// they are older than an hour.
class TemporaryFolder {
public:
    /// Creates a folder whose name begins with `prefix`. Throws std::runtime_error if that fails.
    explicit TemporaryFolder(const std::string& prefix = "smemtune");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

    /// Writes a file below this folder and creates the folders on its path. Throws std::runtime_error if that fails, or
    /// if `name` does not stay below this folder.
    void write(const std::filesystem::path& name, const std::string& text) const;

private:
    std::filesystem::path path_;
    int lock_ = -1;  // descriptor that locks the folder while it is in use; -1: not locked
};

/// Removes leftover folders in `parent`. A folder is removed if all of these hold: a TemporaryFolder with `prefix`
/// created it; this user owns it; no process has locked it; its entries have not changed for `age`. The age protects a
/// folder that another process has just created and not locked yet.
void remove_leftovers(const std::filesystem::path& parent, const std::string& prefix,
                      std::chrono::seconds age = std::chrono::hours(1));

}  // namespace smemtune
