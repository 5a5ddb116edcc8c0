// smemtune db: a look into the tuning database.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "db/store.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

nlohmann::json to_json(const TrialRow& row) {
    nlohmann::json json{{"id", row.id},
                        {"device", row.device},
                        {"template", row.kernel_template},
                        {"template_hash", row.template_hash},
                        {"problem", row.problem},
                        {"configuration", row.record.configuration.values},
                        {"resources", row.record.resources},
                        {"compile_ms", row.record.compile_ms},
                        {"verify_ms", row.record.verify_ms},
                        {"time_ms", row.record.time_ms},
                        {"winner", row.winner},
                        {"finished_at", row.finished_at}};
    if (const auto* measurement = std::get_if<Measurement>(&row.record.outcome)) json["measurement"] = *measurement;
    if (const auto* rejection = std::get_if<Rejection>(&row.record.outcome)) json["rejection"] = *rejection;
    return json;
}

std::string outcome_text(const TrialRow& row) {
    if (const auto* rejection = std::get_if<Rejection>(&row.record.outcome)) {
        return std::string(to_text(rejection->stage)) + ": " + rejection->reason;
    }
    const auto& measurement = std::get<Measurement>(row.record.outcome);
    return time_text(measurement.median_us) + (measurement.cut_short ? ", cut short" : "") +
           (row.winner ? ", winner" : "");
}

void print_rows(const std::vector<TrialRow>& found, bool json) {
    if (json) {
        auto list = nlohmann::json::array();
        for (const auto& row : found) list.push_back(to_json(row));
        fmt::print("{}\n", json_text(list));
        return;
    }
    std::vector<std::vector<std::string>> rows{{"trial", "device", "problem", "template", "configuration", "outcome"}};
    for (const auto& row : found) {
        rows.push_back({std::to_string(row.id), row.device, to_text(row.problem), row.kernel_template,
                        to_text(row.record.configuration), outcome_text(row)});
    }
    fmt::print("{}", table(rows));
}

void print_summary(const Store::Summary& summary, bool json) {
    if (json) {
        fmt::print("{}\n", nlohmann::json{{"path", summary.path.string()},
                                          {"schema_version", summary.schema_version},
                                          {"devices", summary.devices},
                                          {"templates", summary.templates},
                                          {"problems", summary.problems},
                                          {"measured", summary.measured},
                                          {"rejected", summary.rejected},
                                          {"binaries", summary.binaries},
                                          {"runs", summary.runs}}
                               .dump(2));
        return;
    }
    fmt::print(
        "{} (schema {})\n{} devices, {} templates, {} problems\n{} trials measured, {} rejected\n"
        "{} binaries, {} runs\n",
        summary.path.string(), summary.schema_version, summary.devices, summary.templates, summary.problems,
        summary.measured, summary.rejected, summary.binaries, summary.runs);
}

}  // namespace

int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line("db",
                     "smemtune db list|show|best|trials: look into the tuning database.\n\n"
                     "  smemtune db list                     what it holds\n"
                     "  smemtune db best                     the winner of every problem\n"
                     "  smemtune db trials --size 4096 --template tiled --rejected\n"
                     "  smemtune db show 17                  one trial, everything known of it\n\n"
                     "It is one SQLite file; sqlite3 FILE 'select * from best' reads it as well.");
    line.add()("what", po::value<std::string>()->default_value("list"), "list, best, trials or show");
    line.add()("id", po::value<long long>(), "of a trial, for show");
    line.add()("device", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "only devices whose name has TEXT");
    line.add()("template", po::value<std::string>()->default_value("")->value_name("TEXT"), "likewise for templates");
    line.add()("size", po::value<std::string>()->default_value("")->value_name("TEXT"),
               "likewise for sizes such as 4096x4096x4096");
    line.add()("operation", po::value<std::string>()->default_value("")->value_name("TEXT"), "likewise for operations");
    line.add()("rejected", po::bool_switch(), "only rejected trials");
    line.add_database(process_environment);
    line.add_json();
    line.positional({"what", "id"});
    if (!line.parse(arguments)) return success;
    const auto& what = line.text("what");
    if (what != "list" && what != "best" && what != "trials" && what != "show") {
        throw UsageError("db '" + what + "' is none of list, show, best, trials");
    }
    if (what != "show" && line.has("id")) throw UsageError("db " + what + " takes no number; see 'smemtune db --help'");
    if (what == "show" && !line.has("id")) throw UsageError("db show needs a trial's number; see 'smemtune db trials'");
    const Store store(line.database(), Store::Access::read);
    const bool json = line.get<bool>("json");
    if (what == "list") {
        print_summary(store.summary(), json);
        return success;
    }
    if (what == "show") {
        const auto id = line.get<long long>("id");
        const auto row = store.row(id);
        if (!row) throw UsageError(fmt::format("there is no trial {}; see 'smemtune db trials'", id));
        fmt::print("{}\n", json_text(to_json(*row)));
        return success;
    }
    Store::Filter filter{.device = line.text("device"),
                         .kernel_template = line.text("template"),
                         .size = line.text("size"),
                         .operation = line.text("operation"),
                         .best_only = what == "best",
                         .rejected_only = line.get<bool>("rejected")};
    const auto rows = store.rows(filter);
    print_rows(rows, json);
    if (rows.empty()) fmt::print(stderr, "nothing there matches; see 'smemtune db list'\n");
    return success;
}

}  // namespace smemtune
