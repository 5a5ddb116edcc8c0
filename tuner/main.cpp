// smemtune: argv in, exit code out. The environment is read here and nowhere else.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "templates/manifest/catalog.h"
#include "tuner/commands/command.h"
#include "tuner/worker/worker.h"

namespace {

using namespace smemtune;

constexpr const char* help =
    R"(smemtune finds the fastest configuration of GPU kernels and keeps it in a database.

  smemtune --device 0 --sizes 512..8192     tune matrix products on GPU 0, and print what won
  smemtune run --size 4096x4096x128         fetch the tuned kernel as an application would, run and verify it
  smemtune bench                            the winners against cuBLAS, in pairs
  smemtune db best                          what is known to be fastest
  smemtune explain tiled                    what a configuration takes from a multiprocessor, and what it gives back

commands
  tune [options]             the default: search, verify, time, store
  run [options]              fetch through the runtime, launch, verify, time
  bench [options]            the winners against cuBLAS, another database, earlier figures
  devices                    the devices there are, and their limits
  templates [NAME]           the kernels that can be tuned; one in detail
  explain NAME [options]     shared memory, occupancy and its limiter, reuse
  simulate [options]         replay searches over a recorded landscape, with no GPU
  db list|show|best|trials   look into the database

'smemtune COMMAND --help' shows a command's options.

exit codes
  0 done   1 nothing right was found   2 bad input   3 device, compiler or worker failed   4 database failed
  130 interrupted: everything finished is stored, the same command goes on
)";

std::string variable(const char* name) {
    const auto* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread starts
    return value == nullptr ? "" : value;
}

// Empty when nothing says where. A relative XDG_DATA_HOME is to be ignored, says the XDG specification.
std::filesystem::path default_database(const std::filesystem::path& chosen, const std::filesystem::path& data,
                                       const std::filesystem::path& home) {
    if (!chosen.empty()) return chosen;
    if (data.is_absolute()) return data / "smemtune" / "tuning.db";
    return home.empty() ? home : home / ".local/share/smemtune/tuning.db";
}

// COLUMNS, else what the terminal says; 0 where standard output is none.
std::size_t output_width() {
    if (isatty(STDOUT_FILENO) == 0) return 0;
    const auto columns = std::strtoul(variable("COLUMNS").c_str(), nullptr, 10);
    if (columns > 0) return columns;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

ProcessEnvironment read_environment() {
    ProcessEnvironment process_environment{.executable = "/proc/self/exe",
                                           .host_compiler = variable("CXX"),
                                           .commit = variable("COMMIT"),
                                           .output_width = output_width(),
                                           .redraws = isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb"};
    if (process_environment.host_compiler.empty()) process_environment.host_compiler = "c++";
    process_environment.database =
        default_database(variable("SMEMTUNE_DB"), variable("XDG_DATA_HOME"), variable("HOME"));
    return process_environment;
}

int dispatch(Arguments arguments) {
    const std::map<std::string, std::function<int(const Arguments&, const ProcessEnvironment&)>> commands{
        {"tune", tune_command},           {"run", run_command},
        {"bench", bench_command},         {"devices", devices_command},
        {"templates", templates_command}, {"explain", explain_command},
        {"simulate", simulate_command},   {"db", database_command},
        {"worker", worker_command}};
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        fmt::print("{}", help);
        return success;
    }
    if (arguments[0] == "--version") {
        fmt::print("smemtune {}\n", SMEMTUNE_VERSION);
        return success;
    }
    auto command = commands.find("tune");
    if (!arguments[0].starts_with('-')) {
        command = commands.find(arguments[0]);
        if (command == commands.end()) {
            throw UsageError("there is no command '" + arguments[0] +
                             "'; there is: tune, run, bench, devices, templates, explain, simulate, db");
        }
        arguments.erase(arguments.begin());
    }
    return command->second(arguments, read_environment());
}

int failure(int code, const char* what) {
    fmt::print(stderr, "smemtune: {}\n", what);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return dispatch(Arguments(argv + 1, argv + argc));
    } catch (const UsageError& error) {
        return failure(bad_input, error.what());
    } catch (const ManifestError& error) {
        return failure(bad_input, error.what());
    } catch (const ExpressionError& error) {
        return failure(bad_input, error.what());
    } catch (const std::invalid_argument& error) {
        return failure(bad_input, error.what());
    } catch (const std::length_error& error) {
        return failure(bad_input, error.what());
    } catch (const StoreError& error) {
        return failure(bad_database, error.what());
    } catch (const std::exception& error) {
        return failure(bad_environment, error.what());
    }
}
