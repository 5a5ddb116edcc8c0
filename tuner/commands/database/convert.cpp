// smemtune db convert: translates the files of other autotuners.
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

#include "tuner/commands/command.h"
#include "tuner/commands/database/results_file.h"
#include "tuner/formats/formats.h"
#include "tuner/replay/landscape.h"
#include "tuner/report/text.h"

namespace smemtune {

void write_results(const std::filesystem::path& file, const std::string& format,
                   const std::vector<TuningResults>& results) {
    if (std::filesystem::exists(file)) throw UsageError(file.string() + " exists; remove it, or choose another file");
    std::string text;
    try {
        text = results_text(format, results);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) {
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
        throw UsageError(file.string() + " cannot be written; choose another file");
    }
    std::size_t written = 0;
    std::size_t left_out = 0;
    for (const auto& each : results) {
        const auto objective = each.header.value("objective", "time");
        for (const auto& entry : each.entries) {
            ++(format != "wisdom" || wisdom_holds(entry, objective) ? written : left_out);
        }
    }
    fmt::print("{}: {} of {}{}\n", file.string(), counted(written, "configuration"), counted(results.size(), "problem"),
               left_out == 0 ? "" : fmt::format("; left out {} without a time", left_out));
}

int database_convert_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db convert",
         .summary = "Translate results between the formats of other autotuners.",
         .words = "FROM TO",
         .examples = {{"smemtune db convert --to t4 cache.json.gz results.json", ""}},
         .notes =
             "FROM is a cache of Kernel Tuner, T4 results, a wisdom file of kernel_launcher, or CSV as 'db export' "
             "writes it, with or without gzip; TO must not exist. The results do not enter a database, because "
             "smemtune has not verified them. docs/formats.md says what each format holds."});
    line.add({.name = "to", .value = "FORMAT", .summary = "The format of TO.", .choices = result_formats()});
    line.accept_words(2);
    if (!line.parse(arguments)) return success;
    if (line.words().size() != 2 || !line.has("to")) {
        throw UsageError("db convert needs --to FORMAT and two files; see 'smemtune db convert --help'");
    }
    std::vector<TuningResults> results;
    try {
        results = parse_results(line.words()[0], read_unpacked(line.words()[0]));
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    write_results(line.words()[1], line.text("to"), results);
    return success;
}

}  // namespace smemtune
