// smemtune report: writes or serves a page that shows the database in a browser.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "db/store.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/sizes.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/page/data/page_comparison.h"
#include "tuner/page/data/page_data.h"
#include "tuner/page/page.h"
#include "tuner/page/page_file.h"
#include "tuner/page/page_server.h"
#include "tuner/report/text.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

namespace fs = std::filesystem;

constexpr const char* default_port = "8137";

std::string read_bench(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw UsageError("--bench " + path + ": cannot be read; write the file with 'smemtune bench --json'");
    std::string text(std::istreambuf_iterator<char>(file), {});
    try {
        (void)vendor_times(text);
    } catch (const std::invalid_argument& error) {
        throw UsageError("--bench " + path + ": " + error.what());
    }
    return text;
}

PageRequest read_page_request(const CommandLine& line) {
    const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
    PageRequest request{.filter = {.devices = stored_devices(line.text("device")),
                                   .kernel_templates = split(templates, ','),
                                   .sizes = stored_sizes(line.text("sizes"), known_size_forms(line.text("operation"))),
                                   .operations = split(line.text("operation"), ',')}};
    if (line.has("against")) request.against = line.text("against");
    if (line.has("bench")) request.bench = read_bench(line.text("bench"));
    return request;
}

}  // namespace

int report_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "report",
         .summary = "Write the database as one HTML page: winners, rooflines, what was tried, which parameters "
                    "mattered, where the time went. The page needs no network.",
         .words = "[FILE]",
         .examples = {{"smemtune report tuning.html --operation gemm", ""},
                      {"smemtune report new.html --against old.db --bench bench.json", ""},
                      {"smemtune report --serve", "Shows new trials while 'smemtune tune' runs."}},
         .notes = "FILE is report.html unless named, and is replaced. Names are compared as a whole; in a pattern, * "
                  "stands for any text. docs/report.md says what the page shows."});
    line.add_device("Only these devices: 0, 1, ..., host, or names as in 'smemtune db list'.", "", DeviceNames::stored);
    line.add_sizes("Only these sizes: 512 is 512x512x512 of gemm; 512..8192; 4096x4096x128.", "");
    line.add_templates("Only these templates.");
    line.add_operation("Only this operation.");
    line.add({.name = "against", .value = "FILE", .summary = "Compare the winners with those of another database."});
    line.add({.name = "bench",
              .value = "FILE",
              .summary = "Compare with the vendor's library: what 'smemtune bench --json' printed."});
    line.add({.name = "serve",
              .value = "PORT",
              .summary = fmt::format("Serve the page on this machine's loopback address instead, with new trials as "
                                     "they are stored. Port {} unless given; 0 takes a free one.",
                                     default_port),
              .implicit = default_port});
    line.add_database();
    line.accept_words(1);
    if (!line.parse(arguments)) return success;
    const auto request = read_page_request(line);
    if (line.has("serve")) {
        if (!line.words().empty()) throw UsageError("--serve writes no file; leave out '" + line.words().front() + "'");
        return serve_page(line.database(), request, static_cast<unsigned short>(line.number("serve", 0, 65535)));
    }
    const auto begin = std::chrono::steady_clock::now();
    const fs::path file = line.words().empty() ? "report.html" : line.words().front();
    const ShownDatabase database(line.database());
    const auto& store = database.store();
    if (store.count(request.filter) == 0) {
        fmt::print(stderr, "no trial matches{} See {}\n", did_you_mean_stored(store, request.filter.kernel_templates),
                   line.proposed("db list"));
        return nothing_found;
    }
    const auto html = page_html(page_data(store, request), PageSource::file);
    write_page(file, html);
    fmt::print("{}: {:.1f} MB, written in {:.1f} s; open it in a browser\n", file.string(),
               static_cast<double>(html.size()) * 1e-6, seconds_since(begin));
    return database.result();
}

}  // namespace smemtune
