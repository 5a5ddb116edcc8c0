// Converts the values of shared options to templates, devices and problems.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "templates/manifest/kernel_template.h"
#include "tuner/cli/command_line.h"
#include "tuner/cli/sizes.h"

namespace smemtune {

/// The chosen templates of a command.
struct TemplateChoice {
    std::vector<KernelTemplate> kernels;         ///< all for the same operation
    std::vector<std::filesystem::path> folders;  ///< folders in --templates, for a Runtime
    bool restricted = false;                     ///< --templates or --template restricts the choice

    [[nodiscard]] const Operation& operation() const { return kernels.front().operation; }
};

/// Loads built-in templates and those of folders. `list` (`--templates`) holds names and folders; an empty list means
/// all built-in templates. A folder's template replaces an earlier one of the same name. `operation` restricts the
/// result unless it is empty. Throws UsageError, which names the unknown part.
std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation);

/// The templates that --templates, --template and --operation choose; by default those of gemm. Throws UsageError if a
/// name is unknown or the templates compute different operations.
TemplateChoice choose_templates(const CommandLine& line);

/// Finds one template by name, in folders first, then among the built-in ones. Throws UsageError.
KernelTemplate find_template(const std::string& list, const std::string& name);

/// The end of a message about templates without trials: did_you_mean() for the first of `names` that `store` does not
/// know.
std::string did_you_mean_stored(const Store& store, const std::vector<std::string>& names);

/// The chosen template whose kernel for `problem` is the fastest; empty if the user did not restrict the templates.
/// Throws FetchError if none of them has a kernel.
std::string best_template(Runtime& runtime, const Problem& problem, const TemplateChoice& choice);

/// The options for a command's Runtime: the database of --db, which may be absent, and the system's. Warnings go to
/// standard error. `device`: a name of find_device.
Runtime::Options runtime_options(const CommandLine& line, const ProcessEnvironment& process_environment,
                                 const TemplateChoice& choice, const std::string& device);

/// If `auto` has found no GPU, prints to standard error that the host is used instead, and for which purpose.
void tell_fallback(const std::string& device_option, const Device& device, const char* use);
constexpr const char* host_for_times = "using the host CPU; its times say nothing about a GPU";
constexpr const char* host_for_limits = "using the limits of the host CPU; name a GPU's, such as --device sm_90";

/// A device of this machine or a model (`sm_90`, limits given by hand). Throws DeviceError, std::invalid_argument.
Device any_device(const std::string& name);

/// Devices of one kind, which can share work.
struct DeviceGroup {
    Device device;
    std::vector<std::string> names;  ///< device names, one for each worker
};

/// Parses `0`, `0,1`, `host`, `auto` or `all` (every GPU) and groups equal devices, in the order written. Throws
/// UsageError, DeviceError.
std::vector<DeviceGroup> choose_devices(const std::string& list);

/// Converts a device option to patterns for Store::Filter. `0` is GPU 0 of this machine; `host` is any CPU; other text
/// is a name, or a pattern with `*`. An empty result means every device. Throws DeviceError.
std::vector<std::string> stored_devices(const std::string& list);

/// How to write sizes of `operation`, or of every known operation if it is empty or unknown.
std::vector<SizeForm> known_size_forms(const std::string& operation);

/// Reads problems of one operation from the shared options. Throws UsageError.
std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device);

/// The same for a command that works on exactly one problem.
Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device);

/// Parses a duration: `90`, `90s`, `2m`, `1h`. Throws UsageError.
std::chrono::seconds parse_duration(const std::string& text);

/// Warns on standard error if verifying and timing one kernel takes more than a minute on the host device (a rough
/// estimate). If the user did not name the host (`asked_for` is false), throws UsageError instead.
void check_host_time(const Operation& operation, const Problem& problem, const Device& device, bool asked_for);

}  // namespace smemtune
