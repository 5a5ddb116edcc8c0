// Presents a file of an older schema as if it had the newest schema, for readers that must not change the file.
#pragma once

#include <SQLiteCpp/Database.h>

#include "db/file/schema.h"

namespace smemtune {

/// Adds temporary views to a connection whose file has the older schema version `schema`. Tables get the columns that
/// they lack, with the values that migration would give them. Views get their newest text. Tables that the file lacks
/// appear as empty tables, but missing virtual tables stay absent. These views are enough as long as migration steps
/// only add columns, tables, views and indexes ("Compatibility" in docs/design.md).
void present_as_newest(SQLite::Database& database, int schema, Migrations steps);

}  // namespace smemtune
