// The commands, one file each, and the list of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/cli/command_line.h"

namespace smemtune {

using Arguments = std::vector<std::string>;
/// Returns an ExitCode.
using CommandFunction = int (*)(const Arguments& arguments, const ProcessEnvironment& process_environment);

int tune_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int bench_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int run_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int devices_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int templates_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int explain_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int simulate_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int worker_command(const Arguments& arguments, const ProcessEnvironment& process_environment);

struct Command {
    const char* name;
    const char* summary;  ///< one line; empty: not for people, and not shown
    CommandFunction function;
};

/// Every command, in the order of the help.
std::span<const Command> commands();
/// What `smemtune db` can be followed by.
std::span<const Command> database_commands();

/// Runs the command that `arguments` begin with. Options alone are those of tune; no argument, `help` and `--help`
/// print the help. Throws UsageError when there is no such command.
int dispatch(Arguments arguments, const ProcessEnvironment& process_environment);

}  // namespace smemtune
