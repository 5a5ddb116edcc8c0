#include "tuner/commands/database/filters.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/sizes.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

void add_database_filters(CommandLine& line) {
    line.add_device("Only these devices: 0, 1, ..., host, or names as in 'smemtune db list'.", "", DeviceNames::stored);
    line.add_sizes("Only these sizes: 512 is 512x512x512 of gemm; 512..8192; 4096x4096x128.", "");
    line.add_templates("Only these templates.");
    line.add_operation("Only this operation.");
}

Store::Filter read_database_filter(const CommandLine& line) {
    const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
    return {.devices = stored_devices(line.text("device")),
            .kernel_templates = split(templates, ','),
            .sizes = stored_sizes(line.text("sizes"), known_size_forms(line.text("operation"))),
            .operations = split(line.text("operation"), ',')};
}

std::filesystem::path database_to_write(const CommandLine& line) {
    auto file = line.database();
    const auto folder = std::filesystem::absolute(file).parent_path();
    std::error_code unknown;
    if (line.given("db") && !std::filesystem::exists(folder, unknown) && !unknown) {
        throw UsageError(
            fmt::format("--db {}: there is no folder {}; make it, or check the path", file.string(), folder.string()));
    }
    return file;
}

void complain_of_nothing(const CommandLine& line, const Store& store, const Store::Filter& filter) {
    fmt::print(stderr, "no trial matches{} See {}; a part of a name is written with *, as in '*tiled'\n",
               did_you_mean_stored(store, filter.kernel_templates), line.proposed("db list"));
}

ShownDatabase::ShownDatabase(const std::filesystem::path& file)
    : store_(file, Store::Access::read,
             {.on_damage = [name = file.string(), damages = damages_](const std::string& reason) {
                 if (!damages->insert(reason).second) return;
                 fmt::print(stderr, "{}: a damaged row is left out: {}; tune its problem again to replace it\n", name,
                            reason);
             }}) {}

void add_output_formats(CommandLine& line) {
    line.add_wide();
    line.add_json();
    line.add({.name = "csv", .summary = "Print CSV on standard output instead of text. Columns are the keys of JSON."});
}

OutputFormat read_output_format(const CommandLine& line) {
    if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other; choose one");
    return line.flag("json") ? OutputFormat::json : line.flag("csv") ? OutputFormat::csv : OutputFormat::text;
}

void print_json_document(const char* command, nlohmann::json content) {
    fmt::print("{}\n", json_text(document(command, std::move(content))));
}

}  // namespace smemtune
