// The commands, one file each. What they return is an ExitCode.
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/command_line.h"

namespace smemtune {

using Arguments = std::vector<std::string>;
int tune_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int bench_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int run_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int devices_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int templates_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int explain_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int simulate_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int worker_command(const Arguments& arguments, const ProcessEnvironment& process_environment);

}  // namespace smemtune
