// Creates a database file for other machines. The file is either complete or absent.
#pragma once

#include <filesystem>
#include <optional>

#include "db/store.h"

namespace smemtune {

/// Writes to a temporary file beside `file`. finish() renames it, so that `file` is never incomplete. The database has
/// a rollback journal instead of a write-ahead log. Readers therefore create no files beside it, and its folder may be
/// read-only.
class NewDatabase {
public:
    /// Creates the temporary file. Throws StoreError.
    explicit NewDatabase(std::filesystem::path file);
    /// Removes the temporary file if it was not renamed.
    ~NewDatabase();
    NewDatabase(const NewDatabase&) = delete;
    NewDatabase& operator=(const NewDatabase&) = delete;

    [[nodiscard]] Store& store() { return *store_; }
    /// Closes the store and renames its file to `file`, which is replaced if it exists. Throws StoreError.
    void finish();

private:
    void remove_unfinished() const;

    std::filesystem::path file_, unfinished_;
    std::optional<Store> store_;
};

}  // namespace smemtune
