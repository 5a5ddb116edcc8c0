// A temporary folder, removed with its contents.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace smemtune {

/// A new folder where the system keeps temporary files. The destructor removes it with its contents. A process that was
/// killed leaves its folders behind; the first folder of a later process removes those older than an hour.
class TemporaryFolder {
public:
    /// Its name begins with `prefix`. Throws std::runtime_error.
    explicit TemporaryFolder(const std::string& prefix = "smemtune");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

    /// Writes a file and creates the folders on its path. Throws std::runtime_error.
    void write(const std::filesystem::path& name, const std::string& text) const;

private:
    std::filesystem::path path_;
    int lock_ = -1;  // of the folder, held while it is in use
};

/// Removes the folders of this user below `parent` that a TemporaryFolder of `prefix` created and nobody uses, if their
/// entries last changed longer than `age` ago. The age covers a folder that is being created and is not locked yet.
void remove_leftovers(const std::filesystem::path& parent, const std::string& prefix,
                      std::chrono::seconds age = std::chrono::hours(1));

}  // namespace smemtune
