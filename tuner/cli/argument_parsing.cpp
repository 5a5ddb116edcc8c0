#include "tuner/cli/argument_parsing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "templates/manifest/catalog.h"
#include "tuner/cli/shell_text.h"
#include "tuner/cli/suggestion.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

std::vector<std::string> names_of(const std::vector<KernelTemplate>& kernels) {
    std::vector<std::string> names;
    names.reserve(kernels.size());
    for (const auto& kernel : kernels) names.push_back(kernel.name);
    return names;
}

void check_operation(const std::string& operation, const std::string& list) {
    std::set<std::string> known;
    for (const auto& kernel : choose_templates(list, "")) known.insert(kernel.operation.name);
    if (known.contains(operation)) return;
    throw UsageError(fmt::format(
        "no template{} computes the operation '{}'{} Known: {}. A folder of your own is named by --templates FOLDER",
        list.empty() ? "" : " of --templates " + list, operation, did_you_mean(operation, {known.begin(), known.end()}),
        fmt::join(known, ", ")));
}

// Keeps only the templates that `names` lists.
void keep_named(std::vector<KernelTemplate>& kernels, const std::string& names) {
    const auto wanted = split(names, ',');
    const auto known = names_of(kernels);
    for (const auto& name : wanted) {
        if (std::ranges::find(known, name) == known.end()) {
            throw UsageError("there is no template '" + name + "'" + did_you_mean(name, known) +
                             " 'smemtune templates' lists them; a folder of your own is named by --templates FOLDER");
        }
    }
    std::erase_if(kernels,
                  [&](const KernelTemplate& kernel) { return std::ranges::find(wanted, kernel.name) == wanted.end(); });
}

void check_one_operation(const std::vector<KernelTemplate>& kernels) {
    for (const auto& kernel : kernels) {
        if (kernel.operation.name != kernels.front().operation.name) {
            throw UsageError("the templates compute both " + kernels.front().operation.name + " and " +
                             kernel.operation.name + "; choose one with --operation");
        }
    }
}

// Templates of several folders may describe an operation differently. The kernels of some of them would then be
// verified with the reference of others. Precondition: all compute an operation of the same name.
void check_same_operation(const std::vector<KernelTemplate>& kernels) {
    const auto identity = operation_identity(kernels.front(), {});
    for (const auto& kernel : kernels) {
        if (operation_identity(kernel, {}) == identity) continue;
        throw UsageError(fmt::format(
            "the templates {} and {} describe the operation {} differently; choose one of them, or give its operation "
            "another name",
            kernels.front().name, kernel.name, kernel.operation.name));
    }
}

}  // namespace

std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation) {
    const auto& builtin = builtin_templates();
    std::vector<KernelTemplate> chosen;
    const auto named = [&](const std::string& name) { return std::ranges::find(chosen, name, &KernelTemplate::name); };
    for (const auto& item : split(list, ',')) {
        if (std::filesystem::is_directory(item)) {
            for (auto& kernel : load_templates(read_sources(item))) {
                if (const auto same = named(kernel.name); same != chosen.end()) chosen.erase(same);
                chosen.push_back(std::move(kernel));
            }
            continue;
        }
        const auto found = std::ranges::find(builtin, item, &KernelTemplate::name);
        if (found == builtin.end()) {
            const auto known = names_of(builtin);
            throw UsageError(fmt::format("--templates: '{}' is neither a template nor a folder{} The templates are {}",
                                         item, did_you_mean(item, known), fmt::join(known, ", ")));
        }
        if (named(item) == chosen.end()) chosen.push_back(*found);
    }
    if (!list.empty() && chosen.empty()) throw UsageError("--templates '" + list + "' names no template");
    if (list.empty()) chosen = builtin;
    if (!operation.empty()) {
        check_operation(operation, list);
        std::erase_if(chosen, [&](const KernelTemplate& kernel) { return kernel.operation.name != operation; });
    }
    return chosen;
}

TemplateChoice choose_templates(const CommandLine& line) {
    const auto& list = line.text("templates");
    const auto& names = line.text("template");
    const auto& operation = line.text("operation");
    TemplateChoice choice{.restricted = !list.empty() || !names.empty()};
    choice.kernels = choose_templates(list, choice.restricted || !operation.empty() ? operation : "gemm");
    if (!names.empty()) keep_named(choice.kernels, names);
    check_one_operation(choice.kernels);
    for (const auto& item : split(list, ',')) {
        if (std::filesystem::is_directory(item)) choice.folders.emplace_back(item);
    }
    if (!choice.folders.empty()) check_same_operation(choice.kernels);
    return choice;
}

KernelTemplate find_template(const std::string& list, const std::string& name) {
    auto kernels = choose_templates(list, "");
    keep_named(kernels, name);
    return std::move(kernels.front());
}

std::string did_you_mean_stored(const Store& store, const std::vector<std::string>& names) {
    std::set<std::string> known;
    for (const auto& row : store.rows({})) known.insert(row.kernel_template);
    for (const auto& name : names) {
        if (!known.contains(name)) return did_you_mean(name, {known.begin(), known.end()});
    }
    return ".";
}

std::string tuning_command(const CommandLine& line, const std::string& sizes, const std::string& layout) {
    const auto& templates = line.text("template").empty() ? line.text("templates") : line.text("template");
    const auto& operation = line.text("operation");
    const auto& type = line.text("type");
    auto text = "smemtune --device " + line.text("device");
    if (!operation.empty()) text += " --operation " + operation;
    text += " --sizes " + sizes;
    if (type != "f32") text += " --type " + type;
    if (!layout.empty() && layout != "nn") text += " --layout " + layout;
    if (!templates.empty()) text += " --templates " + shell_word(templates);
    return text + " --db " + shell_word(line.database().string());
}

std::string best_template(Runtime& runtime, const Problem& problem, const TemplateChoice& choice) {
    if (!choice.restricted) return {};
    if (choice.kernels.size() == 1) return choice.kernels.front().name;
    std::optional<Choice> best;
    std::string why;
    for (const auto& kernel : choice.kernels) {
        try {
            const auto fetched = runtime.fetch(problem, kernel.name).choice();
            if (!best || std::pair(fetched.match, fetched.expected_us) < std::pair(best->match, best->expected_us)) {
                best = fetched;
            }
        } catch (const FetchError& error) {
            why = error.what();
        }
    }
    if (!best) throw FetchError(why);
    return best->kernel_template;
}

Runtime::Options runtime_options(const CommandLine& line, const ProcessEnvironment& process_environment,
                                 const TemplateChoice& choice, const std::string& device) {
    Runtime::Options options{.database = line.database(),
                             .database_may_be_absent = true,
                             .system_databases = process_environment.system_databases,
                             .device = device,
                             .template_folders = choice.folders,
                             .host_compiler = process_environment.host_compiler};
    options.trust.any_owner = line.flag("trust-any-owner");
    options.trust.any_template_owner = true;
    options.log = [](LogLevel level, const std::string& message) {
        if (level == LogLevel::warning) fmt::print(stderr, "smemtune: {}\n", message);
    };
    return options;
}

void tell_fallback(const std::string& device_option, const Device& device, const char* use) {
    if (device_option == "auto" && device.is_host()) fmt::print(stderr, "no GPU found: {}\n", use);
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
        // Several workers may share the host. On one GPU, each worker would disturb the times of the others.
        if (!device.is_host() && std::ranges::find(group->names, name) != group->names.end()) {
            throw UsageError("--device names GPU " + name + " twice");
        }
        group->names.push_back(name);
    }
    return groups;
}

std::vector<std::string> stored_devices(const std::string& list) {
    std::vector<std::string> patterns;
    for (const auto& word : split(list, ',')) {
        const bool number = word.find_first_not_of("0123456789") == std::string::npos;
        if (word == "all") return {};
        if (word == "host") {
            patterns.emplace_back("host: *");
        } else if (number || word == "auto") {
            patterns.push_back(find_device(word).device.name);
        } else {
            patterns.push_back(word);
        }
    }
    return patterns;
}

std::vector<SizeForm> known_size_forms(const std::string& operation) {
    std::vector<SizeForm> forms;
    std::set<std::string> seen;
    for (const auto& kernel : choose_templates("", "")) {
        if (kernel.operation.name == operation) return {size_form(kernel.operation)};
        if (seen.insert(kernel.operation.name).second) forms.push_back(size_form(kernel.operation));
    }
    // User-defined operations are not known here. The forms assume that such an operation has one to four extents, and
    // that none of its extents is a number of matrices.
    for (const auto& names : {std::vector<std::string>{"1"}, {"1", "2"}, {"1", "2", "3"}, {"1", "2", "3", "4"}}) {
        forms.push_back({.names = names});
    }
    return forms;
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
    if (problems.size() != 1) throw UsageError("--sizes " + size + " has several sizes, and one size is needed here");
    return std::move(problems.front());
}

std::chrono::seconds parse_duration(const std::string& text) {
    std::size_t end = 0;
    long long value = 0;
    try {
        value = std::stoll(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    const auto unit = text.substr(end);
    const auto seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (end == 0 || seconds == 0 || value < 1 || value > 1'000'000) {
        throw UsageError("duration '" + text + "' is not a time of 1 s or more; write for example 90s, 10m or 1h");
    }
    return std::chrono::seconds(value * seconds);
}

// The constant 8e-9 was measured: on the host, reference, checks and timing of a matrix product take 8 core-seconds per
// GFLOP.
void check_host_time(const Operation& operation, const Problem& problem, const Device& device, bool asked_for) {
    if (!device.is_host()) return;
    const auto environment = environment_of(operation, problem, device);
    const auto work = std::max(operation.operations.evaluate(environment), operation.bytes.evaluate(environment));
    const auto minutes = 8e-9 * static_cast<double>(work) / std::max(1U, std::thread::hardware_concurrency()) / 60;
    if (minutes < 1) return;
    const auto message =
        fmt::format("{} takes about {:.0f} minutes for each kernel on the host CPU; choose a smaller size",
                    to_text(problem), std::ceil(minutes));
    if (!asked_for) throw UsageError(message + ", or write --device host to run it there all the same");
    fmt::print(stderr, "{}\n", message);
}

void require_no_database(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;  // reading a pipe would wait for a writer
    constexpr std::string_view header("SQLite format 3\0", 16);
    std::string start(header.size(), ' ');
    std::ifstream(file, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    if (start != header) return;
    throw UsageError(file.string() +
                     " is a database and is not replaced; choose another file (--db names the database)");
}

}  // namespace smemtune
