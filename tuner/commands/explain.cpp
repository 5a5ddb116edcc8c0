// smemtune explain: what a configuration takes from a multiprocessor, and what it gives back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/compiler.h"
#include "templates/launch/estimate.h"
#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/commands/command.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

namespace po = boost::program_options;

// Limits given by hand may leave one out: then it allows any number.
constexpr std::int64_t countless = 1'000'000;

std::string count_text(std::int64_t blocks) { return blocks >= countless ? "any number" : std::to_string(blocks); }

Configuration read_configuration(const KernelTemplate& kernel, const std::string& text) {
    auto configuration = default_configuration(kernel);
    for (const auto& [name, value] : parse_configuration(text).values) configuration.values[name] = value;
    return configuration;
}

struct Explanation {
    Launch launch;
    Occupancy occupancy;
    ModelValues reuse;
    std::string registers_from;
    std::optional<std::string> infeasibility;
};

// Registers come from the compiler where there is one for the device, else from the manifest's estimate.
Explanation examine(const KernelTemplate& kernel, const Configuration& configuration, const Problem& problem,
                    const Device& device) {
    Explanation result{.launch = launch_of(kernel, configuration, problem, device),
                       .registers_from = kernel.registers ? "the manifest's estimate" : "unknown"};
    result.infeasibility = infeasibility(kernel, configuration, problem, device);
    if (!device.is_host() && !result.infeasibility) {
        try {
            const auto compiled = make_compiler(device)->compile(program_of(kernel, configuration, problem));
            if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
                result.infeasibility = "it does not compile: " + rejection->reason;
            } else {
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

void print(const KernelTemplate& kernel, const Configuration& configuration, const Problem& problem,
           const Device& device, const Explanation& e) {
    const auto& launch = e.launch;
    fmt::print("{} {}, {} on {}\n\n", kernel.name, to_text(configuration), to_text(problem), device.name);
    if (e.infeasibility) fmt::print("not feasible there: {}\n\n", *e.infeasibility);
    fmt::print("per block\n");
    fmt::print("  threads                 {} ({} x {} x {})\n", launch.threads(), launch.block[0], launch.block[1],
               launch.block[2]);
    fmt::print("  shared memory           {} bytes ({} KiB; {} static, {} dynamic)\n", launch.shared_bytes(),
               static_cast<double>(launch.shared_bytes()) / 1024, launch.static_shared_bytes,
               launch.dynamic_shared_bytes);
    fmt::print("  registers per thread    {} ({})\n", launch.registers, e.registers_from);
    fmt::print("  blocks in the grid      {}\n", launch.blocks());
    if (launch.workspace) fmt::print("  workspace of a launch   {} bytes\n", launch.workspace->bytes);
    fmt::print("\n");
    fmt::print("blocks per multiprocessor\n");
    fmt::print("  by shared memory        {}\n", count_text(e.occupancy.by_shared_memory));
    fmt::print("  by threads              {}\n", count_text(e.occupancy.by_threads));
    fmt::print("  by registers            {}\n", count_text(e.occupancy.by_registers));
    fmt::print("  by blocks               {}\n", count_text(e.occupancy.by_blocks));
    fmt::print("  resident                {}, limited by {}\n", count_text(e.occupancy.blocks()),
               e.occupancy.limiter());
    fmt::print("  threads resident        {} of {}\n", e.occupancy.blocks() * launch.threads(),
               device.threads_per_multiprocessor);
    if (!kernel.model) return;
    fmt::print("\nper block and phase ({} phases)\n", e.reuse.phases);
    fmt::print("  loads from global       {}\n", e.reuse.loads_per_phase);
    fmt::print("  operations              {}\n", e.reuse.operations_per_phase);
    fmt::print("  operations per load     {:.4g}\n", e.reuse.operations_per_load());
    fmt::print("  barriers                {}\n", e.reuse.barriers_per_phase);
    if (e.reuse.shared_loads_per_phase > 0) {
        fmt::print("  loads from shared       {} (one for all threads of a warp that read the same word)\n",
                   e.reuse.shared_loads_per_phase);
    }
}

nlohmann::json to_json(const KernelTemplate& kernel, const Configuration& configuration, const Problem& problem,
                       const Device& device, const Explanation& e) {
    nlohmann::json json{{"template", kernel.name},
                        {"configuration", configuration},
                        {"defaults", default_configuration(kernel)},
                        {"problem", problem},
                        {"device", device},
                        {"launch", e.launch},
                        {"threads", e.launch.threads()},
                        {"shared_bytes", e.launch.shared_bytes()},
                        {"registers_from", e.registers_from},
                        {"blocks_per_multiprocessor",
                         {{"by_shared_memory", e.occupancy.by_shared_memory},
                          {"by_threads", e.occupancy.by_threads},
                          {"by_registers", e.occupancy.by_registers},
                          {"by_blocks", e.occupancy.by_blocks},
                          {"resident", e.occupancy.blocks()},
                          {"limiter", e.occupancy.limiter()}}}};
    if (e.infeasibility) json["not_feasible"] = *e.infeasibility;
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

}  // namespace

int explain_command(const Arguments& arguments, const ProcessEnvironment&) {
    CommandLine line(
        "explain",
        "smemtune explain NAME: what a configuration takes from a multiprocessor, and what it gives back.\n\n"
        "  smemtune explain tiled --config TILE_WIDTH=32\n"
        "  smemtune explain tiled --device sm_90\n"
        "  smemtune explain tiled --device "
        "shared_bytes_per_multiprocessor=16384,threads_per_multiprocessor=1536");
    line.add()("name", po::value<std::string>(), "a template");
    line.add()("config", po::value<std::string>()->default_value("")->value_name("P=V,..."),
               "parameters that differ from their defaults");
    line.add()(
        "device", po::value<std::string>()->default_value("auto")->value_name("D"),
        "a device; a model: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120; or limits given by hand, alone or after "
        "a model");
    line.add()("size", po::value<std::string>()->default_value("4096")->value_name("MxNxK"), "the problem");
    line.add()("templates", po::value<std::string>()->default_value("")->value_name("LIST"),
               "folders with templates of your own");
    line.add_json();
    line.positional({"name"});
    if (!line.parse(arguments)) return success;
    if (!line.has("name")) throw UsageError("explain needs a template; see 'smemtune templates'");
    const auto kernel = find_template(line.text("templates"), line.text("name"));
    const auto device = any_device(line.text("device"));
    const auto layout = kernel.layouts.empty() ? std::string() : kernel.layouts.front();
    const auto problem = make_problem(kernel.operation, line.text("size"), kernel.types.front(), layout, device);
    const auto configuration = read_configuration(kernel, line.text("config"));
    for (const auto& [name, value] : configuration.values) {
        const auto known = std::ranges::find(kernel.parameters, name, &Parameter::name);
        if (known == kernel.parameters.end()) {
            throw UsageError(kernel.name + " has no parameter '" + name + "'; see 'smemtune templates " + kernel.name +
                             "'");
        }
    }
    const auto explanation = examine(kernel, configuration, problem, device);
    if (line.get<bool>("json")) {
        fmt::print("{}\n",
                   json_text(document("explain", to_json(kernel, configuration, problem, device, explanation))));
    } else {
        print(kernel, configuration, problem, device, explanation);
    }
    return success;
}

}  // namespace smemtune
