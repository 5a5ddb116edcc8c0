// Writes scripts with which a shell completes command lines of smemtune.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/manual/documented_command.h"

namespace smemtune {

/// Each function returns a script. It can be read with `source` or put into the folder from which the shell loads
/// completions.
std::string bash_completion(std::span<const DocumentedCommand> commands);
std::string zsh_completion(std::span<const DocumentedCommand> commands);
std::string fish_completion(std::span<const DocumentedCommand> commands);

/// A shell with its completion script.
struct Shell {
    const char* name;
    const char* file;  ///< path below share/ where the shell looks for the script
    std::string (*completion)(std::span<const DocumentedCommand> commands);
};
std::span<const Shell> completed_shells();

}  // namespace smemtune
