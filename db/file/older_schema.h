// Makes a file of an older schema look like the newest one, for readers that must not change it.
#pragma once

#include <SQLiteCpp/Database.h>

#include "db/file/schema.h"

namespace smemtune {

/// Adds temporary views to a connection whose file is of an older `schema`: tables get the columns that they lack, with
/// the values that migration gives them, and views get their newest text. Tables that the file lacks are empty; virtual
/// ones stay absent. This suffices as long as steps only add ("Compatibility" in docs/design.md).
void present_as_newest(SQLite::Database& database, int schema, Migrations steps);

}  // namespace smemtune
