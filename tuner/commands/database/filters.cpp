#include "tuner/commands/database/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/sizes.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

void add_database_filters(CommandLine& line) {
    line.add_device("Only these devices: 0, 1, ..., host, or names as in 'smemtune db list'.", "", DeviceNames::stored);
    line.add_sizes("Only these sizes: 512 is 512x512x512 of gemm; 512..8192; 4096x4096x128.", "");
    line.add_templates("Only these templates: names, or folders of your own, separated by commas.");
    line.add_operation("Only this operation.");
}

std::vector<KernelTemplate> templates_of_folders(const CommandLine& line) {
    std::vector<KernelTemplate> kernels;
    for (const auto& item : split(line.text("templates"), ',')) {
        if (std::filesystem::is_directory(item)) std::ranges::move(choose_templates(item, ""), back_inserter(kernels));
    }
    return kernels;
}

Store::Filter read_database_filter(const CommandLine& line) {
    auto names = split(line.text("template").empty() ? line.text("templates") : line.text("template"), ',');
    std::erase_if(names, [](const std::string& name) { return std::filesystem::is_directory(name); });
    for (const auto& kernel : templates_of_folders(line)) names.push_back(kernel.name);
    return {.devices = stored_devices(line.text("device")),
            .kernel_templates = std::move(names),
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
