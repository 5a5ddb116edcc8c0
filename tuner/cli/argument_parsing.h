// Options that several commands share: converts their values into templates, devices and problems.
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

/// The templates that the user chose for a command.
struct TemplateChoice {
    std::vector<KernelTemplate> kernels;         ///< the chosen templates, all of the same operation
    std::vector<std::filesystem::path> folders;  ///< the folders in --templates, for Runtime::Options
    bool restricted = false;                     ///< whether the user gave --templates or --template

    [[nodiscard]] const Operation& operation() const { return kernels.front().operation; }
};

/// Loads templates. `list` is the value of `--templates`: names of built-in templates, and folders. An empty list means
/// all built-in templates. A folder's template replaces an earlier one of the same name. Returns only templates of
/// `operation`, unless it is empty. Throws UsageError, whose message names the unknown part.
std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation);

/// Loads the templates that --templates, --template and --operation choose. Without these options: the templates of
/// gemm. Throws UsageError if a name is unknown or the templates compute different operations.
TemplateChoice choose_templates(const CommandLine& line);

/// Finds a template by name among those of `list` (`--templates`), or among the built-in ones if `list` is empty.
/// Throws UsageError.
KernelTemplate find_template(const std::string& list, const std::string& name);

/// Throws UsageError if `file` is a database. Commands call this before they write a file that is not a database.
/// Such a file must never replace a database, which may hold hours of tuning.
void require_no_database(const std::filesystem::path& file);

/// The end of a message which says that a filter found nothing in `store`. `names` are the templates of the filter. If
/// `store` has no trial of one of these templates, the text may suggest a similar name, as in did_you_mean().
std::string did_you_mean_stored(const Store& store, const std::vector<std::string>& names);

/// The command that tunes a problem with the options of `line`: --device, --templates, --operation, --type and --db.
std::string tuning_command(const CommandLine& line, const std::string& sizes, const std::string& layout);

/// The template of `choice` with the best kernel for `problem`. The closest match is the best; among equally close
/// matches, the one with the shortest expected time. Empty if the user did not restrict the templates. Throws
/// FetchError if `choice` has several templates and none of them has a kernel.
std::string best_template(Runtime& runtime, const Problem& problem, const TemplateChoice& choice);

/// The options of the Runtime that a command creates. The Runtime searches the database of --db, which may be absent,
/// and the system databases. Warnings go to standard error. `device` is a name that find_device() accepts.
Runtime::Options runtime_options(const CommandLine& line, const ProcessEnvironment& process_environment,
                                 const TemplateChoice& choice, const std::string& device);

/// If `device_option` is `auto` and `device` is the host, prints to standard error that there is no GPU. `use` is the
/// rest of the message, such as `host_for_times`.
void tell_fallback(const std::string& device_option, const Device& device, const char* use);
constexpr const char* host_for_times = "using the host CPU; its times say nothing about a GPU";
constexpr const char* host_for_limits = "using the limits of the host CPU; name a GPU's, such as --device sm_90";

/// Returns a device of this machine, or a device that `name` describes: the name of an architecture, such as `sm_90`,
/// or limits given by hand, such as `shared_bytes_per_block=16384`. Throws DeviceError, std::invalid_argument.
Device any_device(const std::string& name);

/// Equal devices, which share the work of a run.
struct DeviceGroup {
    Device device;
    std::vector<std::string> names;  ///< names that find_device() accepts, one for each worker
};

/// Parses the value of --device: `0`, `0,1`, `host`, `auto` or `all` (every GPU). Groups equal devices. Throws
/// UsageError, DeviceError.
std::vector<DeviceGroup> choose_devices(const std::string& list);

/// Converts the value of --device to patterns for Store::Filter. `0` is GPU 0 of this machine, `auto` is the device
/// that find_device() chooses, `host` is any CPU, and `all` is every device. Other text is a device's name, or a
/// pattern with `*`. An empty result means every device. Throws DeviceError.
std::vector<std::string> stored_devices(const std::string& list);

/// The extents of `operation`. If `operation` is empty or unknown: the extents of every built-in operation, and forms
/// with one to four extents for the user's operations.
std::vector<SizeForm> known_size_forms(const std::string& operation);

/// Makes the problems that the values of --sizes, --type and --layout describe. Throws UsageError.
std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device);

/// Like make_problems(), for exactly one size. Throws UsageError if `size` lists several.
Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device);

/// Parses a duration: `90`, `90s`, `2m`, `1h`. Throws UsageError.
std::chrono::seconds parse_duration(const std::string& text);

/// Estimates roughly how long it takes to verify and time one kernel on the host device. If it is more than a minute,
/// warns on standard error, or throws UsageError if `asked_for` is false (the user did not name the host).
void check_host_time(const Operation& operation, const Problem& problem, const Device& device, bool asked_for);

}  // namespace smemtune
