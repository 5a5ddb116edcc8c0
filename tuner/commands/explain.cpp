// smemtune explain: shows the resources, occupancy and reuse of a configuration.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "db/store.h"
#include "runtime/compiler.h"
#include "templates/launch/estimate.h"
#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"
#include "templates/manifest/catalog.h"
#include "templates/space/value.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/sizes.h"
#include "tuner/cli/suggestion.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/commands/ranking.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

// From this number of blocks on, the output says "any number". Such numbers occur if a resource has no limit.
constexpr std::int64_t countless = 1'000'000;

std::string number_text(std::int64_t number) {
    return number >= 0 ? count_text(static_cast<std::uint64_t>(number)) : std::to_string(number);
}
std::string blocks_text(std::int64_t blocks) { return blocks >= countless ? "any number" : number_text(blocks); }

// The configuration to explain, with its problem, its device and its origin.
struct Subject {
    KernelTemplate kernel;
    Configuration configuration;
    Problem problem;
    Device device;
    std::string origin;                   // the stored trial as text; empty if no stored trial is explained
    std::optional<std::int64_t> trial{};  // the number of the stored trial
    std::int64_t registers = 0;           // registers per thread, from the stored trial; 0 if unknown
};

struct Explanation {
    Launch launch;
    Occupancy occupancy;
    ModelValues reuse;
    std::string registers_from;
    std::optional<std::string> infeasibility;
    bool compiles = true;
};

// The number of registers comes from the first of these that has one: the stored trial, a compile of the
// configuration, the manifest's estimate.
Explanation examine(const Subject& subject, const ProcessEnvironment& process_environment) {
    const auto& [kernel, configuration, problem, device, origin, trial, registers] = subject;
    Explanation result{.launch = launch_of(kernel, configuration, problem, device),
                       .registers_from = kernel.registers ? "the manifest's estimate" : "unknown"};
    result.infeasibility = why_unsupported(kernel, problem, device);
    if (!result.infeasibility) result.infeasibility = infeasibility(kernel, configuration, problem, device);
    if (registers > 0) {
        result.launch.registers = registers;
        result.registers_from = "as compiled for the trial";
    } else if (!(device.is_host() && trial) && !result.infeasibility) {
        try {
            const auto compiler = make_compiler(
                device, {.host_compiler = process_environment.host_compiler, .toolkits = process_environment.toolkits});
            const auto compiled = compiler->compile(program_of(kernel, configuration, problem));
            if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
                result.infeasibility = "it does not compile: " + rejection->reason;
                result.compiles = false;
            } else if (!device.is_host()) {
                const auto& resources = std::get<Binary>(compiled).resources;
                result.launch.registers = resources.registers;
                result.launch.static_shared_bytes = resources.static_shared_bytes;
                result.registers_from = fmt::format("compiled, {} bytes spilled", resources.spill_bytes);
                result.infeasibility = broken_limit(result.launch, device);
            }
        } catch (const CompilerError& error) {
            result.registers_from += fmt::format("; {}", error.what());
        }
    }
    result.occupancy = occupancy(result.launch, device);
    result.reuse = model_values(kernel, configuration, problem, device);
    return result;
}

void print(const Subject& subject, const Explanation& e, std::size_t columns) {
    const auto& [kernel, configuration, problem, device, origin, trial, registers] = subject;
    const auto& launch = e.launch;
    std::vector<HelpRow> facts{{"problem", to_text(problem)}, {"device", device.name}, {"template", kernel.name}};
    std::string values;
    for (const auto& [name, value] : configuration.values) values += fmt::format("{}={} ", name, value_text(value));
    facts.push_back({"configuration", values});
    if (!origin.empty()) facts.push_back({"from", origin});
    fmt::print("{}\n", help_rows(facts, columns));
    if (e.infeasibility) fmt::print("{}\n", wrap("NOT FEASIBLE on this device: " + *e.infeasibility, columns));
    if (!e.compiles) return;
    fmt::print("per block\n");
    fmt::print("  threads                 {} ({} x {} x {})\n", number_text(launch.threads()), launch.block[0],
               launch.block[1], launch.block[2]);
    fmt::print("  shared memory           {} bytes ({} KiB; {} static, {} dynamic)\n",
               number_text(launch.shared_bytes()), static_cast<double>(launch.shared_bytes()) / 1024,
               number_text(launch.static_shared_bytes), number_text(launch.dynamic_shared_bytes));
    fmt::print("  registers per thread    {} ({})\n", launch.registers, e.registers_from);
    fmt::print("  blocks in the grid      {}\n", number_text(launch.blocks()));
    if (launch.workspace) fmt::print("  workspace of a launch   {} bytes\n", number_text(launch.workspace->bytes));
    fmt::print("\n");
    fmt::print("blocks per multiprocessor\n");
    fmt::print("  by shared memory        {}\n", blocks_text(e.occupancy.by_shared_memory));
    fmt::print("  by threads              {}\n", blocks_text(e.occupancy.by_threads));
    fmt::print("  by registers            {}\n", blocks_text(e.occupancy.by_registers));
    fmt::print("  by blocks               {}\n", blocks_text(e.occupancy.by_blocks));
    fmt::print("  resident                {}, limited by {}\n", blocks_text(e.occupancy.blocks()),
               e.occupancy.limiter());
    fmt::print("  threads resident        {} of {}\n", number_text(e.occupancy.blocks() * launch.threads()),
               number_text(device.threads_per_multiprocessor));
    if (!kernel.model) return;
    fmt::print("\nper block and phase ({} phases)\n", number_text(e.reuse.phases));
    fmt::print("  loads from global       {}\n", number_text(e.reuse.loads_per_phase));
    fmt::print("  operations              {}\n", number_text(e.reuse.operations_per_phase));
    fmt::print("  operations per load     {:.4g}\n", e.reuse.operations_per_load());
    fmt::print("  barriers                {}\n", number_text(e.reuse.barriers_per_phase));
    if (e.reuse.shared_loads_per_phase > 0) {
        fmt::print("  loads from shared       {} (one for all threads of a warp that read the same word)\n",
                   number_text(e.reuse.shared_loads_per_phase));
    }
}

nlohmann::json to_json(const Subject& subject, const Explanation& e) {
    const auto& [kernel, configuration, problem, device, origin, trial, registers] = subject;
    nlohmann::json json{{"template", kernel.name},
                        {"configuration", configuration},
                        {"defaults", default_configuration(kernel)},
                        {"problem", problem},
                        {"device", device},
                        {"launch", e.launch},
                        {"threads", e.launch.threads()}};
    if (trial) json["trial"] = *trial;
    if (e.infeasibility) json["not_feasible"] = *e.infeasibility;
    if (!e.compiles) return json;  // the occupancy is unknown without registers and shared memory
    json["shared_bytes"] = e.launch.shared_bytes();
    json["registers_from"] = e.registers_from;
    json["blocks_per_multiprocessor"] = {{"by_shared_memory", e.occupancy.by_shared_memory},
                                         {"by_threads", e.occupancy.by_threads},
                                         {"by_registers", e.occupancy.by_registers},
                                         {"by_blocks", e.occupancy.by_blocks},
                                         {"resident", e.occupancy.blocks()},
                                         {"limiter", e.occupancy.limiter()}};
    if (kernel.model) {
        json["per_phase"] = {{"phases", e.reuse.phases},
                             {"loads", e.reuse.loads_per_phase},
                             {"operations", e.reuse.operations_per_phase},
                             {"operations_per_load", e.reuse.operations_per_load()},
                             {"barriers", e.reuse.barriers_per_phase}};
        if (e.reuse.shared_loads_per_phase > 0) json["per_phase"]["shared_loads"] = e.reuse.shared_loads_per_phase;
    }
    return json;
}

CommandLine explain_options(const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "explain",
         .summary =
             "Show the resources and the data reuse of a configuration: shared memory, registers, occupancy and its "
             "limiter, loads, operations per load, barriers. No GPU is needed. With NAME, explains the default "
             "configuration of this template, changed by --config. Without NAME, explains the stored winner of "
             "--sizes, or the trial of --trial.",
         .words = "[NAME]",
         .examples = {{"smemtune explain tiled --config TILE_WIDTH=32 --device sm_90", ""},
                      {"smemtune explain --sizes 4096 --db FILE", "The stored winner."},
                      {"smemtune explain --sizes 4096 --templates tiled",
                       "The best stored configuration of one template."},
                      {"smemtune explain --sizes 1833x320x8153",
                       "Not tuned: which member of the portfolio serves it, and why."},
                      {"smemtune explain --sizes 1833x320x8153 --type bf16 --layout tn", "The same for bf16 in tn."},
                      {"smemtune explain --trial 17", "A trial, by its number in 'smemtune db trials'."},
                      {"smemtune explain tiled --device shared_bytes_per_block=16384", "Limits given by hand."}},
         .notes = "The exit code is 1 when the configuration cannot run on the device.",
         .word_proposals = names_of_templates()});
    line.add({.name = "config",
              .value = "P=V,...",
              .summary = "Parameters that differ from their defaults.",
              .default_value = ""});
    line.add_device(
        "A device; a model: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120; or limits given by hand, alone or after "
        "a model. For stored trials: 0, 1, ..., host, or a name as in 'smemtune db list'; by default, the only device "
        "with such trials, or else the first device of this machine.",
        "auto", DeviceNames::model);
    line.add_sizes("The problem: MxNxK; one number for a cube.", "4096");
    line.add_operation("The operation of a stored winner; gemm unless --templates implies another.");
    line.add_type("", "Default: the first type of NAME; any type for a stored winner; f32 for a portfolio.");
    line.add_layout("The layout of the problem. Default: the first layout of NAME; nn for what is stored.", "");
    line.add_templates("Folders of your own with the template NAME. For stored trials: names of templates.");
    line.add({.name = "trial", .value = "N", .summary = "Explain this stored trial."});
    line.add({.name = "portfolio",
              .summary =
                  "Show how the stored portfolio ranks its members at --sizes: the predicted time of each member, and "
                  "the terms of this time. Without --portfolio, this is shown for a size that is not stored."});
    line.add_wide();
    line.add_database();
    line.add_json();
    line.accept_words(1);
    return line;
}

// Finds the template `name`. Its configuration is the default one, changed by --config.
Subject read_configuration(const CommandLine& line, const std::string& name) {
    Subject subject{.kernel = find_template(line.text("templates"), name)};
    const auto& kernel = subject.kernel;
    subject.device = any_device(line.text("device"));
    const auto first = kernel.layouts.empty() ? std::string() : kernel.layouts.front();
    subject.problem = make_problem(kernel.operation, line.text("sizes"),
                                   line.text("type").empty() ? kernel.types.front() : line.text("type"),
                                   line.text("layout").empty() ? first : line.text("layout"), subject.device);
    subject.configuration = default_configuration(kernel);
    for (const auto& [parameter, value] : parse_configuration(line.text("config")).values) {
        std::vector<std::string> known;
        for (const auto& each : kernel.parameters) known.push_back(each.name);
        if (std::ranges::find(known, parameter) == known.end()) {
            throw UsageError(fmt::format("--config: {} has no parameter '{}'{} Its parameters are {}", kernel.name,
                                         parameter, did_you_mean(parameter, known), fmt::join(known, ", ")));
        }
        const auto& values = std::ranges::find(kernel.parameters, parameter, &Parameter::name)->values;
        if (is_text_value(value) && std::ranges::find(values, value) == values.end()) {
            std::vector<std::string> texts;
            texts.reserve(values.size());
            for (const auto each : values) texts.push_back(value_text(each));
            throw UsageError(fmt::format("--config: '{}={}' is no value of the parameter; write one of {}", parameter,
                                         value_text(value), fmt::join(texts, ", ")));
        }
        subject.configuration.values[parameter] = value;
    }
    tell_fallback(line.text("device"), subject.device, host_for_limits);
    return subject;
}

// Returns the measured trials that match --sizes and the other options. If templates are named, these are all their
// trials, the fastest first for each device and problem. Otherwise, there is only the best trial for each device and
// problem.
std::vector<TrialRow> matching_rows(const Store& store, const CommandLine& line, const std::string& name) {
    auto templates = split(line.text("template").empty() ? line.text("templates") : line.text("template"), ',');
    if (!name.empty()) templates = {name};
    const auto& operation = line.text("operation");
    std::vector<std::string> operations;
    if (!operation.empty()) operations = {operation};
    if (operation.empty() && templates.empty()) operations = {"gemm"};
    auto rows = store.rows({.devices = line.given("device") ? stored_devices(line.text("device")) : split("", ','),
                            .kernel_templates = templates,
                            .sizes = stored_sizes(line.text("sizes"), known_size_forms(operation)),
                            .operations = operations,
                            .best_only = templates.empty()});
    const auto layout = line.text("layout").empty() ? "nn" : line.text("layout");
    const auto& type = line.text("type");
    std::erase_if(rows, [&](const TrialRow& row) {
        return !std::holds_alternative<Measurement>(row.record.outcome) ||
               (!type.empty() && row.problem.type != type) ||
               (!row.problem.layout.empty() && row.problem.layout != layout);
    });
    return rows;
}

// Returns the trial that --trial names, or else the fastest of matching_rows(). If these trials are of several devices,
// the fastest on this machine's device is returned. Throws UsageError if there is no trial, or the user must name a
// device.
TrialRow find_row(const Store& store, const CommandLine& line, const std::string& name) {
    if (line.given("trial")) {
        const auto id = line.number("trial", 1, std::numeric_limits<long long>::max());
        auto row = store.row(id);
        if (!row)
            throw UsageError(fmt::format("--trial {}: there is no such trial; see {}", id, line.proposed("db trials")));
        return *row;
    }
    auto rows = matching_rows(store, line, name);
    if (rows.empty()) {
        const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
        const auto& operation = line.text("operation");
        const auto by = name.empty() ? templates : name;
        throw UsageError(fmt::format("{} holds no winner of {} {}{}{} See {}", line.database().string(),
                                     !operation.empty() ? operation
                                     : by.empty()       ? "gemm"
                                                        : "size",
                                     line.text("sizes"),
                                     by.empty() ? "" : " by " + fmt::format("{}", fmt::join(split(by, ','), ", ")),
                                     did_you_mean_stored(store, split(by, ',')), line.proposed("db best")));
    }
    std::set<std::string> devices;
    for (const auto& row : rows) devices.insert(row.device);
    if (devices.size() > 1) {
        const auto here = list_devices().front().device.name;
        if (line.given("device") || !devices.contains(here)) {
            throw UsageError(fmt::format("{} holds winners of several devices; choose one with --device: {}",
                                         line.database().string(), fmt::join(devices, "; ")));
        }
        std::erase_if(rows, [&](const TrialRow& row) { return row.device != here; });
    }
    return *std::ranges::min_element(
        rows, {}, [](const TrialRow& row) { return std::get<Measurement>(row.record.outcome).median_us; });
}

// Whether --sizes is a single size without stored times, and the database has a portfolio for this size.
bool is_only_predicted(const CommandLine& line) {
    if (line.given("trial")) return false;
    const Store store(line.database(), Store::Access::read, {.on_damage = [](const std::string&) {}});
    try {
        return matching_rows(store, line, "").empty() && has_portfolio(store, line);
    } catch (const UsageError&) {  // --sizes names several sizes, but a ranking is for one size
        return false;
    } catch (const DeviceError&) {  // --device is a pattern of names of stored devices
        return false;
    }
}

Subject read_stored(const CommandLine& line, const std::string& name) {
    const ShownDatabase database(line.database());
    const auto& store = database.store();
    const auto row = find_row(store, line, name);
    const auto stored = store.recall_template(row.record.key.kernel_template).value();
    Subject subject{.kernel = load_template(stored.files, stored.hash),
                    .configuration = row.record.configuration,
                    .problem = row.problem,
                    .trial = row.id,
                    .registers = row.record.resources.registers};
    for (const auto& [id, device] : store.devices()) {
        if (id == row.record.key.device) subject.device = device;
    }
    const auto* measured = std::get_if<Measurement>(&row.record.outcome);
    const auto* rejected = std::get_if<Rejection>(&row.record.outcome);
    subject.origin =
        fmt::format("trial {}{} of {}, {}", row.id, row.winner ? ", the winner," : "", line.database().string(),
                    measured != nullptr ? time_text(measured->median_us) : "rejected: " + rejected->reason);
    return subject;
}

}  // namespace

int explain_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    auto line = explain_options(process_environment);
    if (!line.parse(arguments)) return success;
    const auto name = line.words().empty() ? "" : line.words().front();
    const bool chosen = line.given("sizes") || line.given("templates") || line.given("template");
    const bool stored = line.given("trial") || (name.empty() ? chosen : line.given("db") && !line.given("config"));
    if (name.empty() && !stored) {
        throw UsageError(
            "explain needs a template, a size or a trial; write for example 'smemtune explain tiled' or "
            "'smemtune explain --sizes 4096'");
    }
    if (line.flag("portfolio") || (stored && name.empty() && is_only_predicted(line))) return explain_ranking(line);
    const auto subject = stored ? read_stored(line, name) : read_configuration(line, name);
    const auto explanation = examine(subject, process_environment);
    if (line.flag("json")) {
        fmt::print("{}\n", json_text(document("explain", to_json(subject, explanation))));
    } else {
        print(subject, explanation, process_environment.help_columns);
    }
    return explanation.infeasibility ? nothing_found : success;
}

}  // namespace smemtune
