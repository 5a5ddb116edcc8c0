// A new database file, for other machines, that is complete or absent.
#pragma once

#include <filesystem>
#include <optional>

#include "db/store.h"

namespace smemtune {

/// Writes to a temporary name beside `file` and renames in finish(), so `file` is complete or absent. The database has
/// a rollback journal, so readers create no files beside it and its folder may be read-only.
class NewDatabase {
public:
    /// Throws StoreError.
    explicit NewDatabase(std::filesystem::path file);
    /// Removes an unfinished file.
    ~NewDatabase();
    NewDatabase(const NewDatabase&) = delete;
    NewDatabase& operator=(const NewDatabase&) = delete;

    [[nodiscard]] Store& store() { return *store_; }
    /// Closes the store. A file of that name is replaced. Throws StoreError.
    void finish();

private:
    void remove_unfinished() const;

    std::filesystem::path file_, unfinished_;
    std::optional<Store> store_;
};

}  // namespace smemtune
