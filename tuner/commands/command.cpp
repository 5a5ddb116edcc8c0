#include "tuner/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "runtime/backend.h"
#include "templates/catalog.h"
#include "tuner/sizes.h"

namespace smemtune {

namespace po = boost::program_options;

CommandLine::CommandLine(std::string name, std::string usage) : name_(std::move(name)), usage_(std::move(usage)) {
    add()("help,h", "show this help");
}

void CommandLine::add_database(const Surroundings& surroundings) {
    add()("db", po::value<std::string>()->default_value(surroundings.database.string())->value_name("FILE"),
          "tuning database; SMEMTUNE_DB sets the default");
}

// Read as a wider type: read as unsigned, -1 would be a large number.
void CommandLine::add_seed(const char* of_what) {
    add()("seed", po::value<long long>()->default_value(1)->value_name("N"), of_what);
}

unsigned CommandLine::seed() const {
    const auto seed = get<long long>("seed");
    if (seed < 0 || seed > std::numeric_limits<unsigned>::max()) {
        throw UsageError(fmt::format("--seed {} is not in 0..{}", seed, std::numeric_limits<unsigned>::max()));
    }
    return static_cast<unsigned>(seed);
}

std::filesystem::path CommandLine::database() const {
    if (text("db").empty())
        throw UsageError("where is the database? HOME is not set; give --db FILE or set SMEMTUNE_DB");
    return text("db");
}

void CommandLine::add_json() { add()("json", po::bool_switch(), "print JSON on standard output instead of text"); }

void CommandLine::add_type() {
    std::set<std::string> known;
    for (const auto& kernel : load_templates(builtin_sources())) known.insert(kernel.types.begin(), kernel.types.end());
    const auto help = fmt::format("numerics class of the elements: {}", fmt::join(known, ", "));
    add()("type", po::value<std::string>()->default_value("f32")->value_name("T"), help.c_str());
}

void CommandLine::positional(std::initializer_list<const char*> names) {
    for (const auto* name : names) positional_.add(name, 1);
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
    const auto remedy = "; see 'smemtune " + name_ + " --help'";
    try {
        // No guessing of shortened names: --template is a mistake, not --templates.
        const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::store(po::command_line_parser(arguments).options(options_).positional(positional_).style(style).run(),
                  values_);
        if (!has("help")) po::notify(values_);
    } catch (const po::too_many_positional_options_error&) {
        throw UsageError("'" + arguments.back() + "' is one word too many" + remedy);
    } catch (const po::error& error) {
        throw UsageError(error.what() + remedy);
    }
    if (has("help")) {
        std::ostringstream options;
        options << options_;
        fmt::print("{}\n\n{}", usage_, options.str());
        return false;
    }
    return true;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation) {
    const auto builtin = load_templates(builtin_sources());
    std::vector<KernelTemplate> chosen;
    const auto add = [&](const KernelTemplate& kernel) {
        const auto same = std::ranges::find(chosen, kernel.name, &KernelTemplate::name);
        if (same == chosen.end()) chosen.push_back(kernel);
    };
    for (const auto& item : split(list, ',')) {
        if (std::filesystem::is_directory(item)) {
            for (const auto& kernel : load_templates(read_sources(item))) add(kernel);
            continue;
        }
        const auto found = std::ranges::find(builtin, item, &KernelTemplate::name);
        if (found == builtin.end()) {
            std::string known;
            for (const auto& kernel : builtin) known += " " + kernel.name;
            throw UsageError("'" + item + "' is neither a folder nor a built-in template; known:" + known);
        }
        add(*found);
    }
    if (!list.empty() && chosen.empty()) throw UsageError("--templates names nothing");
    if (list.empty()) chosen = builtin;
    if (!operation.empty()) {
        std::erase_if(chosen, [&](const KernelTemplate& kernel) { return kernel.operation.name != operation; });
        if (chosen.empty())
            throw UsageError("no template computes the operation '" + operation + "'; see 'smemtune templates'");
    }
    return chosen;
}

std::vector<std::filesystem::path> template_folders(const std::string& list) {
    std::vector<std::filesystem::path> folders;
    for (const auto& item : split(list, ',')) {
        if (!std::filesystem::is_directory(item)) {
            throw UsageError("--templates takes folders here, and '" + item + "' is none; write --template " + item +
                             " for this one alone");
        }
        folders.emplace_back(item);
    }
    return folders;
}

KernelTemplate find_template(const std::string& list, const std::string& name) {
    auto kernels = choose_templates(list, "");
    const auto found = std::ranges::find(kernels, name, &KernelTemplate::name);
    if (found == kernels.end()) throw UsageError("there is no template '" + name + "'; see 'smemtune templates'");
    return *found;
}

Device any_device(const std::string& name) {
    if (name.starts_with("sm_") || name.find('=') != std::string::npos) return model_device(name);
    return find_device(name).device;
}

std::vector<DeviceGroup> choose_devices(const std::string& list) {
    std::vector<ListedDevice> chosen;
    if (list == "all") {
        chosen = list_devices();
        std::erase_if(chosen, [](const ListedDevice& each) { return each.device.is_host(); });
        if (chosen.empty()) throw DeviceError("--device all means every GPU, and there is none; there is: host");
    } else {
        for (const auto& name : split(list, ',')) chosen.push_back(find_device(name));
        if (chosen.empty()) throw UsageError("--device names no device; write for example 0, 0,1, all, host or auto");
    }
    std::vector<DeviceGroup> groups;
    for (auto& [name, device] : chosen) {
        auto group = std::ranges::find(groups, device, &DeviceGroup::device);
        if (group == groups.end()) group = groups.insert(groups.end(), {device, {}});
        // Several workers of the host may share it; on a GPU they would disturb each other's times.
        if (!device.is_host() && std::ranges::find(group->names, name) != group->names.end()) {
            throw UsageError("--device names GPU " + name + " twice");
        }
        group->names.push_back(name);
    }
    return groups;
}

std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device) {
    const auto form = size_form(operation);
    std::vector<Problem> problems;
    try {
        for (const auto& size : parse_sizes(sizes == "auto" ? automatic_sizes(form, device.is_host()) : sizes, form)) {
            Problem problem{operation.name, type, operation.layouts.empty() ? "" : layout, {}};
            for (std::size_t i = 0; i < size.size(); ++i) problem.extents.emplace_back(operation.extents[i], size[i]);
            (void)environment_of(operation, problem, device);
            problems.push_back(std::move(problem));
        }
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    return problems;
}

Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device) {
    auto problems = make_problems(operation, size, type, layout, device);
    if (problems.size() != 1) throw UsageError("one size is needed, '" + size + "' has several");
    return std::move(problems.front());
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    const auto numeric = [&](std::size_t column) {
        return std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
            return column >= row.size() || row[column].empty() || row[column] == "-" ||
                   std::isdigit(static_cast<unsigned char>(row[column].front())) != 0;
        });
    };
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += numeric(i) && i > 0 ? fmt::format("{:>{}}  ", row[i], widths[i])
                                        : fmt::format("{:<{}}  ", row[i], widths[i]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string json_text(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string time_text(double microseconds) {
    if (microseconds < 1e3) return fmt::format("{:.4g} us", microseconds);
    if (microseconds < 1e6) return fmt::format("{:.4g} ms", microseconds / 1e3);
    return fmt::format("{:.4g} s", microseconds / 1e6);
}

std::string rate_text(double operations_per_second) {
    return operations_per_second < 1e11 ? fmt::format("{:.2f} G", operations_per_second / 1e9)
                                        : fmt::format("{:.2f} T", operations_per_second / 1e12);
}

}  // namespace smemtune
