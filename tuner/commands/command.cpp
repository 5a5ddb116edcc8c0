#include "tuner/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "tuner/cli/suggestion.h"
#include "tuner/worker/supervisor.h"

namespace smemtune {

namespace {

constexpr std::array all_commands{
    Command{"tune", "Find the fastest configurations, and store every trial. The default command.", tune_command},
    Command{"portfolio", "Find a few configurations that serve any size well.", portfolio_command},
    Command{"run", "Run one problem as an application does; verify and time it.", run_command},
    Command{"bench", "Compare the stored winners with cuBLAS, another database or earlier figures.", bench_command},
    Command{"db", "Look into the tuning database.", database_command},
    Command{"report", "Write or serve a page that shows the database in a browser.", report_command},
    Command{"devices", "List the devices and their limits.", devices_command},
    Command{"init", "Draft a manifest for a kernel of your own.", init_command},
    Command{"import", "Write a manifest for a problem of another tuner.", import_command},
    Command{"check", "Compile and judge the templates of a folder, with no GPU.", check_command},
    Command{"templates", "List the kernels that can be tuned, or describe one.", templates_command},
    Command{"export-header", "Write a C++ header that fetches and launches a kernel.", export_header_command},
    Command{"explain", "Show a configuration's shared memory, registers, occupancy and reuse.", explain_command},
    Command{"simulate", "Replay searches over a recorded tuning, with no GPU.", simulate_command},
    Command{"completion", "Print the script by which a shell completes commands.", completion_command},
    Command{"man", "Print a manual page.", man_command},
    Command{"worker", "", worker_command},
};

std::string general_help(std::size_t columns) {
    std::vector<HelpRow> rows;
    for (const auto& command : all_commands) {
        if (*command.summary != '\0') rows.push_back({command.name, command.summary});
    }
    const auto& help = program_help();
    auto text = wrap(help.summary, columns);
    text += "\nusage: smemtune [COMMAND] [OPTIONS]\n\nexamples\n";
    for (const auto& [command, comment] : help.examples) text += "  " + command + "\n" + wrap(comment, columns, 6);
    text += "\ncommands\n" + help_rows(rows, columns);
    text +=
        "\n" + wrap("'smemtune help COMMAND' shows a command's options, 'smemtune --version' the version.", columns);
    text += "\nexit codes\n" + help_rows(help.exit_codes, columns);
    return text + "\nenvironment\n" + help_rows(help.variables, columns);
}

const Command* find(const std::string& name) {
    const auto* const found =
        std::ranges::find(all_commands, name, [](const Command& command) { return std::string(command.name); });
    return found == all_commands.end() ? nullptr : found;
}

[[noreturn]] void fail_unknown(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& command : all_commands) {
        if (*command.summary != '\0') known.emplace_back(command.name);
    }
    const bool size = !name.empty() && name.find_first_not_of("0123456789x.,:") == std::string::npos;
    throw UsageError(fmt::format("there is no command '{}'{} The commands are {}{}", name, did_you_mean(name, known),
                                 fmt::join(known, ", "), size ? "; to tune a size, write --sizes " + name : ""));
}

}  // namespace

void end_program(const std::string& message) {
    (void)std::fputs(fmt::format("smemtune: {}\n", message).c_str(), stderr);
    end_supervised();
    std::_Exit(bad_environment);  // runs no destructors, because they would wait for the kernel
}

const ProgramHelp& program_help() {
    static const ProgramHelp help{
        .summary = "smemtune finds the fastest configurations of GPU kernels and keeps them in a database.",
        .examples =
            {
                {"smemtune --device 0 --sizes 512..8192", "Tune matrix products on GPU 0."},
                {"smemtune db best", "Show the fastest known configuration of each problem."},
                {"smemtune run --sizes 4096x4096x128",
                 "Fetch the tuned kernel as an application does, verify and time it."},
                {"smemtune bench", "Compare the winners with cuBLAS, in pairs."},
                {"smemtune explain tiled --device sm_90", "Show what a configuration needs and what limits it."},
            },
        .exit_codes =
            {
                {"0", "done"},
                {"1", "no configuration was right, a result was wrong, or the configuration cannot run"},
                {"2", "bad input: an option, a size, a template"},
                {"3", "a device, compiler or worker failed"},
                {"4", "the database failed"},
                {"130", "interrupted; every finished trial is stored, and the same command goes on"},
            },
        .variables =
            {
                {"SMEMTUNE_DB", "The tuning database, unless --db names one."},
                {"XDG_DATA_HOME, HOME",
                 "Else the database is $XDG_DATA_HOME/smemtune/tuning.db, or $HOME/.local/share/smemtune/tuning.db."},
                {"SMEMTUNE_SYSTEM_DATABASES",
                 "The folder of databases that 'run' and 'bench' search last. Default: that of the installation. "
                 "Empty: none."},
                {"CXX", "The compiler of the host device. Default: c++."},
                {"CUDA_HOME, CUDA_PATH",
                 "The CUDA Toolkit with the headers that sources include. Default: the one of NVRTC."},
                {"TMPDIR", "The folder for temporary files. Default: /tmp."},
                {"COMMIT", "The commit that 'bench --json' records."},
                {"COLUMNS", "The width of help texts (at most 100) and of tables. Default: the terminal's."},
                {"TERM", "dumb: progress is printed in lines, without control sequences."},
            },
    };
    return help;
}

std::span<const Command> commands() { return all_commands; }

int dispatch(Arguments arguments, const ProcessEnvironment& process_environment) {
    const bool help = !arguments.empty() && arguments[0] == "help";
    if (help) {
        arguments.erase(arguments.begin());
        if (!arguments.empty()) arguments.emplace_back("--help");
    }
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
        fmt::print("{}", general_help(process_environment.help_columns));
        return success;
    }
    if (arguments[0] == "--version") {
        fmt::print("{}", version_text());
        return success;
    }
    if (arguments[0].starts_with('-')) return tune_command(arguments, process_environment);
    const auto* command = find(arguments[0]);
    if (command == nullptr) fail_unknown(arguments[0]);
    arguments.erase(arguments.begin());
    return command->function(arguments, process_environment);
}

}  // namespace smemtune
