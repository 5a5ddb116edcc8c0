// Opens the database file. Reports everything that is wrong with the file before anything is changed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <SQLiteCpp/Database.h>

#include "db/file/schema.h"
#include "db/store.h"

namespace smemtune {

/// Opens and checks the file; for Access::write, also creates or migrates it. Several processes may call this at once.
/// Throws StoreError and leaves the file as it was.
SQLite::Database open_database(const std::filesystem::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps = migrations());

/// Explains a SQLite error in one line: path, what is wrong, remedy.
std::string explain(const std::filesystem::path& path, const SQLite::Exception& error,
                    std::chrono::milliseconds patience);

/// Explains content that smemtune cannot have written, in the same form.
std::string explain_corrupt(const std::filesystem::path& path, const std::string& detail);

}  // namespace smemtune
