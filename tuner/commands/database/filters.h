// The options that the subcommands of `smemtune db` share.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"
#include "tuner/cli/command_line.h"

namespace smemtune {

/// A text for the help of commands with add_database_filters().
inline constexpr const char* database_patterns =
    "Names are compared as a whole; in a pattern, * stands for any text: --templates '*tiled', --sizes '512x*'.";

/// Adds --device, --sizes, --templates and --operation.
void add_database_filters(CommandLine& line);
Store::Filter read_database_filter(const CommandLine& line);
/// The templates in the folders that --templates names. As filter, such a folder stands for the names of its templates.
std::vector<KernelTemplate> templates_of_folders(const CommandLine& line);

/// The database of --db, for a command that creates the file if it is absent. Only the folder of the default database
/// is created: throws UsageError if the user named a file in a folder that does not exist.
std::filesystem::path database_to_write(const CommandLine& line);

/// Says on standard error that no trial matches, and what the user may have meant.
void complain_of_nothing(const CommandLine& line, const Store& store, const Store::Filter& filter);

/// A database that a command shows. Its damaged trials are left out, and each is named once on standard error.
class ShownDatabase {
public:
    explicit ShownDatabase(const std::filesystem::path& file);

    [[nodiscard]] const Store& store() const { return store_; }
    /// How many damaged trials were left out.
    [[nodiscard]] std::size_t damages() const { return damages_->size(); }
    /// The exit code of a command that read the database: `code`, or bad_database if a trial was left out.
    [[nodiscard]] int result(int code = success) const { return damages() == 0 ? code : bad_database; }

private:
    std::shared_ptr<std::set<std::string>> damages_ = std::make_shared<std::set<std::string>>();
    Store store_;
};

enum class OutputFormat { text, json, csv };

/// Adds --wide, --json and --csv.
void add_output_formats(CommandLine& line);
/// Throws UsageError if the user asked for both JSON and CSV.
OutputFormat read_output_format(const CommandLine& line);

/// Prints `content` as JSON, with the keys that all JSON output has (docs/json.md).
void print_json_document(const char* command, nlohmann::json content);

}  // namespace smemtune
