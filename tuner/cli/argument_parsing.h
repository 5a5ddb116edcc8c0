// What the words of a command line choose: templates, devices, problems.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The built-in templates and those of folders: `list` (`--templates`) holds names and folders, and means all built-in
/// ones when it is empty; of one name, the last folder's counts. `operation` restricts them unless it is empty. Throws
/// UsageError naming what is unknown.
std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation);

/// Likewise, all of one operation: gemm when neither is given. Throws UsageError when they compute several.
std::vector<KernelTemplate> choose_of_one_operation(const std::string& list, const std::string& operation);

/// The folders of such a list, for a Runtime, which holds the built-in templates besides. Throws UsageError when the
/// list names one of those.
std::vector<std::filesystem::path> template_folders(const std::string& list);

/// One template by name, from folders or else built in. Throws UsageError.
KernelTemplate find_template(const std::string& list, const std::string& name);

/// A device of this machine, or a model (`sm_90`, limits given by hand).
Device any_device(const std::string& name);

/// Equal devices, that can share work.
struct DeviceGroup {
    Device device;
    std::vector<std::string> names;  ///< each opens one
};

/// `0`, `0,1`, `host`, `auto`, or `all`: every GPU. In the order written. Throws UsageError, DeviceError.
std::vector<DeviceGroup> choose_devices(const std::string& list);

/// Problems of one operation from the words of the command line. Throws UsageError.
std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device);

/// The same for a command that looks at one problem only.
Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device);

}  // namespace smemtune
