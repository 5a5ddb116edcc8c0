// A temporary folder, removed with its contents.
#pragma once

#include <filesystem>
#include <string>

namespace smemtune {

/// A new folder where the system keeps temporary files. The destructor removes it with its contents.
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
};

}  // namespace smemtune
