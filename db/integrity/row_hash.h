// SHA-256 of stored rows that decide what runs. A row is checked against its hash whenever it is read, because a
// damaged row would crash the application that loads or compiles it. The hash is no signature: who can write the file
// can write the hash too.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "db/record.h"

namespace smemtune {

/// SHA-256 of several fields. It depends on where one field ends and the next begins.
std::string sha256_of(std::span<const std::string_view> fields);

/// SHA-256 of name, operation, hash, and every path and text.
std::string row_sha256(const TemplateRecord& kernel_template);

/// SHA-256 of every field.
std::string row_sha256(const BinaryRecord& binary);

/// The hash of a row of `portfolio`, as an SQL expression over its columns. It covers all of them but `id`.
std::string portfolio_sha256_in_sql(const std::string& kernel_template = "template",
                                    const std::string& configuration = "configuration");

/// The same hashes as SQL expressions over a row of `templates` or `binaries`, for rows that are changed or checked
/// inside the database. An argument replaces the column of that name.
std::string template_sha256_in_sql(const std::string& hash = "hash");
std::string binary_sha256_in_sql(const std::string& kernel_template = "template",
                                 const std::string& configuration = "configuration");

}  // namespace smemtune
