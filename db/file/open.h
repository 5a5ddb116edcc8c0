// Opens the database file. Whatever is wrong with it is found here, before anything is changed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <SQLiteCpp/Database.h>

#include "db/file/schema.h"
#include "db/store.h"

namespace smemtune {

/// Opens, checks, and for Access::write creates or migrates. Several processes may do so at once.
/// Throws StoreError; the file is then as it was.
SQLite::Database open_database(const std::filesystem::path& path, Store::Access access, const StoreOptions& options,
                               Migrations steps = migrations());

/// Explains a SQLite error in one line: path, what is wrong, remedy.
std::string explain(const std::filesystem::path& path, const SQLite::Exception& error,
                    std::chrono::milliseconds patience);

/// The same for content that smemtune cannot have written.
std::string explain_corrupt(const std::filesystem::path& path, const std::string& detail);

}  // namespace smemtune
