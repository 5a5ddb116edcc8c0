// The SQL functions that our statements and migration steps call.
#pragma once

#include <string>

#include <SQLiteCpp/Database.h>

namespace smemtune {

/// smemtune_sha256(fields...): sha256_of (db/integrity/row_hash.h); NULL counts as an empty text.
/// smemtune_log2(extents, i): the base-2 logarithm of extent i of a problem; 0 if it has fewer.
/// id MATCH smemtune_near(group, a, b, c, d): the places of a group, nearest first.
void add_functions(SQLite::Database& database);

/// The largest text or blob that is stored or read. The largest machine code we know is below 1 MiB.
constexpr int largest_value_bytes = 64 << 20;

/// Adds the functions, and limits values to `largest_value_bytes`: larger ones could fill the memory of a reader.
void prepare_connection(SQLite::Database& database);

}  // namespace smemtune
