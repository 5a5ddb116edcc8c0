// The schema as SQL, and the migration steps for older files.
#pragma once

#include <cstdint>
#include <span>

namespace smemtune {

/// The `application_id` in the header of a SQLite file of smemtune: the letters "smem". The tool `file` shows it.
constexpr std::int32_t application_id = 0x736d656d;

/// Step i brings a file from schema version i to version i + 1, in one transaction. Version 0 is an empty file.
using Migrations = std::span<const char* const>;

/// The first schema version that has the columns `sha256` and the table `places`.
constexpr int hashed_schema = 4;

/// All migration steps. Their number is the schema version of this library.
Migrations migrations();

}  // namespace smemtune
