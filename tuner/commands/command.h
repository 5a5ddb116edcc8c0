// The commands, one file each. What they return is an ExitCode.
#pragma once

#include <string>
#include <vector>

#include "tuner/commands/command_line.h"

namespace smemtune {

using Arguments = std::vector<std::string>;
int tune_command(const Arguments& arguments, const Surroundings& surroundings);
int bench_command(const Arguments& arguments, const Surroundings& surroundings);
int run_command(const Arguments& arguments, const Surroundings& surroundings);
int devices_command(const Arguments& arguments, const Surroundings& surroundings);
int templates_command(const Arguments& arguments, const Surroundings& surroundings);
int explain_command(const Arguments& arguments, const Surroundings& surroundings);
int simulate_command(const Arguments& arguments, const Surroundings& surroundings);
int database_command(const Arguments& arguments, const Surroundings& surroundings);
int worker_command(const Arguments& arguments, const Surroundings& surroundings);

}  // namespace smemtune
