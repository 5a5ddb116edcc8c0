// Scripts by which a shell completes command lines of smemtune.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/manual/documented_command.h"

namespace smemtune {

/// Each script is for `source` and for the folder from which the shell loads completions.
std::string bash_completion(std::span<const DocumentedCommand> commands);
std::string zsh_completion(std::span<const DocumentedCommand> commands);
std::string fish_completion(std::span<const DocumentedCommand> commands);

/// The completion of each shell, by the shell's name.
struct Shell {
    const char* name;
    const char* file;  ///< below share/, where the shell finds it
    std::string (*completion)(std::span<const DocumentedCommand> commands);
};
std::span<const Shell> completed_shells();

}  // namespace smemtune
