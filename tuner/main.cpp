// The program smemtune: turns command-line arguments into an exit code. Only this file reads the environment.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "db/store.h"
#include "runtime/runtime.h"
#include "templates/manifest/catalog.h"
#include "tuner/commands/command.h"
#include "tuner/worker/supervisor.h"
#include "util/process.h"

namespace {

using namespace smemtune;

std::string variable(const char* name) {
    const auto* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread starts
    return value == nullptr ? "" : value;
}

// Returns the path of the user's database; empty if no environment variable gives a folder. The XDG specification says
// to ignore a relative XDG_DATA_HOME.
std::filesystem::path default_database(const std::filesystem::path& chosen, const std::filesystem::path& data,
                                       const std::filesystem::path& home) {
    if (!chosen.empty()) return chosen;
    if (data.is_absolute()) return data / "smemtune" / "tuning.db";
    return home.empty() ? home : home / ".local/share/smemtune/tuning.db";
}

std::optional<std::filesystem::path> system_databases() {
    const auto* chosen = std::getenv("SMEMTUNE_SYSTEM_DATABASES");  // NOLINT(concurrency-mt-unsafe): as above
    if (chosen != nullptr) return chosen;
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto beside = program.parent_path().parent_path() / "share/smemtune/portfolios";
    return !error && std::filesystem::exists(beside, error) ? std::optional(beside) : std::nullopt;
}

// Returns the environment variable COLUMNS, or else the terminal's width. Returns 0 if both are unknown.
std::size_t terminal_columns() {
    const auto columns = std::strtoul(variable("COLUMNS").c_str(), nullptr, 10);
    if (columns > 0) return columns;
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Returns the width of lines on standard output; 0 means any width. It is 0 if standard output is not a terminal.
std::size_t output_width(std::size_t columns) {
    if (isatty(STDOUT_FILENO) == 0) return 0;
    return columns == 0 ? 80 : columns;
}

// Lines of more than 100 columns are hard to read.
std::size_t help_columns(std::size_t columns) { return columns == 0 ? 80 : std::clamp<std::size_t>(columns, 60, 100); }

ProcessEnvironment read_environment() {
    const auto columns = terminal_columns();
    ProcessEnvironment process_environment{.executable = "/proc/self/exe",
                                           .host_compiler = variable("CXX"),
                                           .commit = variable("COMMIT"),
                                           .tf32_override = variable("NVIDIA_TF32_OVERRIDE"),
                                           .help_columns = help_columns(columns),
                                           .output_width = output_width(columns),
                                           .redraws = isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb",
                                           .before_host_kernels = [] { supervise(bad_environment); }};
    for (const auto* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (auto folder = variable(name); !folder.empty()) process_environment.toolkits.push_back(std::move(folder));
    }
    if (process_environment.host_compiler.empty()) process_environment.host_compiler = "c++";
    process_environment.database =
        default_database(variable("SMEMTUNE_DB"), variable("XDG_DATA_HOME"), variable("HOME"));
    process_environment.system_databases = system_databases();
    return process_environment;
}

int failure(int code, const char* what) {
    (void)std::fputs(fmt::format("smemtune: {}\n", what).c_str(), stderr);  // fmt::print() throws if stderr is closed
    return code;
}

// Flushes standard output. Otherwise, output that is shorter than the buffer could be lost without an error, for
// example on a full disk. It is no error if the reader has closed the pipe, because it wants no more output.
int finish_output(int code) {
    if (std::fflush(stdout) == 0 || errno == EPIPE) return code;
    return failure(bad_environment, fmt::format("cannot write the output: {}", std::strerror(errno)).c_str());
}

int run(int argc, char** argv) {
    try {
        return finish_output(dispatch(Arguments(argv + 1, argv + argc), read_environment()));
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
    } catch (const UntrustedFile& error) {
        return failure(bad_database, error.what());
    } catch (const std::exception& error) {
        return failure(bad_environment, error.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    // A process whose parent ignores SIGCHLD ignores it, too. waitpid() would then return no exit status of a worker.
    // So the default handling is restored here.
    std::signal(SIGCHLD, SIG_DFL);
    const int code = run(argc, argv);
    end_supervised();
    return code;
}
