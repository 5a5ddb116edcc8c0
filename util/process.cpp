// Uses posix_spawn, because Boost.Process (version 1.74) needs an event loop to wait for both output and a deadline.
#include "util/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <limits>
#include <optional>

extern char** environ;  // NOLINT(*-redundant-declaration,*-global-variables): POSIX; not in every header

namespace smemtune {

namespace {

// If the application ignores SIGCHLD, or waits for any child, waitpid() cannot give us the program's exit code. So a
// shell runs the program and appends the exit code to the output. Code 127 means that the program was not found
// (POSIX).
constexpr auto shell_script = R"("$@"; printf '\n%d' $?)";
constexpr int not_found_code = 127;

// Removes the exit code from the end of `output` and returns it. Returns nothing if the output ends without one.
std::optional<int> take_exit_code(std::string& output) {
    const auto newline = output.rfind('\n');
    if (newline == std::string::npos) return std::nullopt;
    int code = 0;
    const auto* end = output.data() + output.size();
    const auto [stop, error] = std::from_chars(output.data() + newline + 1, end, code);
    if (error != std::errc{} || stop != end) return std::nullopt;
    output.resize(newline);
    return code;
}

pid_t start_program(const std::vector<std::string>& arguments, int output) {
    std::vector<char*> argv;
    for (const auto* word : {"sh", "-c", shell_script, "sh"}) argv.push_back(const_cast<char*>(word));
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    // The program gets its own process group, so that the deadline also ends its children, and Ctrl-C does not
    // interrupt a running compile. The program must be able to wait for its children, so it gets the default handling
    // of SIGCHLD.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t defaults{};
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGCHLD);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    pid_t pid = 0;
    if (posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv.data(), environ) != 0) pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return pid;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
    ProcessResult result;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    const auto pipe = make_pipe();
    const auto pid = pipe.read_end < 0 ? 0 : start_program(arguments, pipe.write_end);
    close(pipe.write_end);
    while (pid != 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        const auto patience = std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max());
        pollfd ready{pipe.read_end, POLLIN, 0};
        const auto polled = patience == 0 ? 0 : poll(&ready, 1, static_cast<int>(patience));
        if (polled < 0 && errno == EINTR) continue;
        result.timed_out = polled == 0;
        if (polled <= 0) break;
        std::array<char, 4096> buffer{};
        const auto count = read(pipe.read_end, buffer.data(), buffer.size());
        if (count == 0) break;
        if (count > 0) result.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(pipe.read_end);
    if (pid == 0) return result;
    if (result.timed_out) kill(-pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    result.exit_code = result.timed_out ? 128 + SIGKILL : take_exit_code(result.output).value_or(128 + SIGKILL);
    result.started = result.exit_code != not_found_code;
    return result;
}

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    for (auto& end : ends) {
        if (end > STDERR_FILENO) continue;
        const auto low = end;
        end = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return {ends[0], ends[1]};
    for (const auto end : ends) close(end);
    return {};
}

void open_standard_descriptors() {
    // open() returns the lowest descriptor that is free.
    int opened = 0;
    while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
    if (opened >= 0) close(opened);
}

}  // namespace smemtune
