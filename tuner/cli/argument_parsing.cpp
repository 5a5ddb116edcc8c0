#include "tuner/cli/argument_parsing.h"

#include <algorithm>

#include "runtime/backend.h"
#include "templates/manifest/catalog.h"
#include "tuner/cli/command_line.h"
#include "tuner/cli/sizes.h"
#include "tuner/report/text.h"

namespace smemtune {

std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation) {
    const auto builtin = load_templates(builtin_sources());
    std::vector<KernelTemplate> chosen;
    const auto named = [&](const std::string& name) { return std::ranges::find(chosen, name, &KernelTemplate::name); };
    for (const auto& item : split(list, ',')) {
        if (std::filesystem::is_directory(item)) {
            // As in Runtime: a folder's template takes the place of another of its name.
            for (auto& kernel : load_templates(read_sources(item))) {
                if (const auto same = named(kernel.name); same != chosen.end()) chosen.erase(same);
                chosen.push_back(std::move(kernel));
            }
            continue;
        }
        const auto found = std::ranges::find(builtin, item, &KernelTemplate::name);
        if (found == builtin.end()) {
            std::string known;
            for (const auto& kernel : builtin) known += " " + kernel.name;
            throw UsageError("'" + item + "' is neither a folder nor a built-in template; known:" + known);
        }
        if (named(item) == chosen.end()) chosen.push_back(*found);
    }
    if (!list.empty() && chosen.empty()) throw UsageError("--templates names nothing");
    if (list.empty()) chosen = builtin;
    if (!operation.empty()) {
        std::erase_if(chosen, [&](const KernelTemplate& kernel) { return kernel.operation.name != operation; });
        if (chosen.empty())
            throw UsageError("no template" + (list.empty() ? "" : " of --templates " + list) +
                             " computes the operation '" + operation + "'; see 'smemtune templates'; one of your own " +
                             "is named by its folder, --templates FOLDER");
    }
    return chosen;
}

std::vector<KernelTemplate> choose_of_one_operation(const std::string& list, const std::string& operation) {
    auto chosen = choose_templates(list, list.empty() && operation.empty() ? "gemm" : operation);
    for (const auto& kernel : chosen) {
        if (kernel.operation.name != chosen.front().operation.name) {
            throw UsageError("the templates compute both " + chosen.front().operation.name + " and " +
                             kernel.operation.name + "; choose one with --operation");
        }
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

}  // namespace smemtune
