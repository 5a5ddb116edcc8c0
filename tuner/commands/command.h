// The list of commands. Each command is implemented in its own file.
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
int portfolio_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int run_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int devices_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int export_header_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int init_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int import_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int check_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int templates_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int explain_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int simulate_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_export_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_compare_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_importance_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_convergence_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_merge_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_convert_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int database_compile_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int report_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int completion_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int man_command(const Arguments& arguments, const ProcessEnvironment& process_environment);
int worker_command(const Arguments& arguments, const ProcessEnvironment& process_environment);

struct Command {
    const char* name;
    const char* summary;  ///< what the command does, in one line; empty for a command that the help omits
    CommandFunction function;
};

/// The texts of `smemtune --help`, except the list of commands.
struct ProgramHelp {
    std::string summary;
    std::vector<HelpRow> examples;
    std::vector<HelpRow> exit_codes;
    std::vector<HelpRow> variables;  ///< the environment variables that the program reads
};
const ProgramHelp& program_help();

/// Prints `message` to standard error, and ends the program at once with bad_environment, even if another thread is in
/// a kernel that hangs.
[[noreturn]] void end_program(const std::string& message);

/// Every command, in the order of the help.
std::span<const Command> commands();
/// The subcommands of `smemtune db`.
std::span<const Command> database_commands();

/// Runs the command that the first argument names. If the first argument is an option, runs `tune`. Without arguments,
/// and for `help` and `--help`, prints the help. Throws UsageError if there is no such command.
int dispatch(Arguments arguments, const ProcessEnvironment& process_environment);

}  // namespace smemtune
