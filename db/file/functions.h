// The SQL functions that our statements and migration steps call.
#pragma once

#include <string>

#include <SQLiteCpp/Database.h>

namespace smemtune {

/// Adds three SQL functions to a connection.
/// smemtune_sha256(fields...): the SHA-256 of the fields, by sha256_of() of db/integrity/row_hash.h. NULL is treated as
/// an empty text.
/// smemtune_log2(extents, i): the base-2 logarithm of extent i; 0 if there is no extent i. `extents` is JSON.
/// id MATCH smemtune_near(group, a, b, c, d): selects the rows of the table `places` that belong to this group, in
/// order of their distance from (a, b, c, d). A group has the problems of one device, operation, type and layout.
void add_functions(SQLite::Database& database);

/// The largest size of a text or blob that smemtune stores or reads. The largest machine code we know is below 1 MiB.
constexpr int largest_value_bytes = 64 << 20;

/// Calls add_functions(), and limits texts and blobs to `largest_value_bytes`. A damaged file with a larger value could
/// otherwise fill the memory of a reader.
void prepare_connection(SQLite::Database& database);

}  // namespace smemtune
