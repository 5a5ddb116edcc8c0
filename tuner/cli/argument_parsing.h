// Turns the values of the shared options into templates, devices and problems.
#pragma once

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

/// The templates that a command works with.
struct TemplateChoice {
    std::vector<KernelTemplate> kernels;         ///< all of one operation
    std::vector<std::filesystem::path> folders;  ///< of --templates, for a Runtime
    bool restricted = false;                     ///< --templates or --template names them; else every one is meant

    [[nodiscard]] const Operation& operation() const { return kernels.front().operation; }
};

/// Built-in templates and those of folders: `list` (`--templates`) holds names and folders, and means every built-in
/// one when it is empty. A folder's template replaces an earlier one of the same name. `operation` restricts them
/// unless it is empty. Throws UsageError naming what is unknown.
std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation);

/// The templates that --templates, --template and --operation choose: those of gemm when none of them is given. Throws
/// UsageError when they are unknown or compute several operations.
TemplateChoice choose_templates(const CommandLine& line);

/// One template by name, from folders or else built in. Throws UsageError.
KernelTemplate find_template(const std::string& list, const std::string& name);

/// Ends a message about templates that `store` holds no trial of: as did_you_mean() for the first of `names` that it
/// does not know.
std::string did_you_mean_stored(const Store& store, const std::vector<std::string>& names);

/// The name of the template that `runtime` serves fastest for `problem` among those chosen; empty when every one may
/// serve. Throws FetchError when none can.
std::string best_template(Runtime& runtime, const Problem& problem, const TemplateChoice& choice);

/// When `auto` has found no GPU, standard error says so, and what the host is used for.
void tell_fallback(const std::string& device_option, const Device& device, const char* use);
constexpr const char* host_for_times = "using the host CPU; its times say nothing about a GPU";
constexpr const char* host_for_limits = "using the limits of the host CPU; name a GPU's, such as --device sm_90";

/// A device of this machine, or a model (`sm_90`, limits given by hand). Throws DeviceError, std::invalid_argument.
Device any_device(const std::string& name);

/// Equal devices, that can share work.
struct DeviceGroup {
    Device device;
    std::vector<std::string> names;  ///< each opens one
};

/// `0`, `0,1`, `host`, `auto`, or `all`: every GPU. In the order written. Throws UsageError, DeviceError.
std::vector<DeviceGroup> choose_devices(const std::string& list);

/// The stored devices that a device word means, as patterns for Store::Filter: `0` is GPU 0 of this machine, `host` any
/// CPU; anything else is a name, or a pattern with `*`. Empty: every device. Throws DeviceError.
std::vector<std::string> stored_devices(const std::string& list);

/// How sizes are written for `operation`, or for every known one when it is empty or unknown.
std::vector<SizeForm> known_size_forms(const std::string& operation);

/// Problems of one operation, from the shared options. Throws UsageError.
std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device);

/// Likewise for a command that looks at one problem only.
Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device);

/// Warns on standard error when verifying and timing one kernel takes more than a minute on the host device; throws
/// UsageError instead when `asked_for` is false: the user did not name the host. The time is a rough estimate.
void check_host_time(const Operation& operation, const Problem& problem, const Device& device, bool asked_for);

}  // namespace smemtune
