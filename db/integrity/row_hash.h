// Computes the SHA-256 of stored templates, machine code and portfolio members. These rows are compared with their hash
// whenever they are read, because damaged code could crash the application that compiles or loads it. The hash is no
// protection against an attacker: whoever can write the file can also write the hash.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "db/record.h"

namespace smemtune {

/// Returns the SHA-256 of several fields. The hash also depends on where one field ends and the next begins.
std::string sha256_of(std::span<const std::string_view> fields);

/// Returns the SHA-256 of a template's name, operation and hash, and of the path and text of each of its files.
std::string row_sha256(const TemplateRecord& kernel_template);

/// Returns the SHA-256 of all fields of `binary`.
std::string row_sha256(const BinaryRecord& binary);

/// Returns the SQL expression for the SHA-256 of a row of the table `portfolio`. The hash covers all columns except
/// `id` and `sha256`. The function's arguments are SQL expressions that the hash uses in place of columns. By default,
/// each argument is the column itself.
std::string portfolio_sha256_in_sql(const std::string& kernel_template = "template",
                                    const std::string& configuration = "configuration");

/// template_sha256_in_sql() and binary_sha256_in_sql() return SQL expressions for the hash that row_sha256() computes,
/// over a row of the table `templates` or `binaries`. SQL statements that change a row of these tables use the
/// expressions. The functions' arguments are SQL expressions that the hash uses in place of columns. By default, each
/// argument is the column itself.
std::string template_sha256_in_sql(const std::string& hash = "hash");
std::string binary_sha256_in_sql(const std::string& kernel_template = "template",
                                 const std::string& configuration = "configuration");

}  // namespace smemtune
