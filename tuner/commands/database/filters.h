// The options that the subcommands of `smemtune db` share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "db/store.h"
#include "tuner/cli/command_line.h"

namespace smemtune {

/// Explains patterns in the help of commands that have these filters.
inline constexpr const char* database_patterns =
    "Names are compared as a whole; in a pattern, * stands for any text: --templates '*tiled', --sizes '512x*'.";

/// Adds --device, --sizes, --templates and --operation.
void add_database_filters(CommandLine& line);
Store::Filter read_database_filter(const CommandLine& line);

/// Says on standard error that no trial matches, and what the user may have meant.
void complain_of_nothing(const Store& store, const Store::Filter& filter);

enum class OutputFormat { text, json, csv };

/// Adds --wide, --json and --csv.
void add_output_formats(CommandLine& line);
/// Throws UsageError if the user asked for both JSON and CSV.
OutputFormat read_output_format(const CommandLine& line);

/// Prints `content` as JSON, with the keys that all JSON output has (docs/json.md).
void print_json_document(const char* command, nlohmann::json content);

}  // namespace smemtune
