// Changes a database with SQL, as damage or a different program could.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace smemtune {

inline void change_database(const std::filesystem::path& file, const std::string& sql) {
    sqlite3* connection = nullptr;
    sqlite3_open(file.c_str(), &connection);
    const bool done = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_close(connection);
    if (!done) throw std::runtime_error(sql + " failed");
}

}  // namespace smemtune
