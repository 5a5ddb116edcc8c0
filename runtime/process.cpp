// posix_spawn by hand: Boost.Process 1.74 cannot wait for output and a deadline at once without its own event loop.
#include "runtime/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every libc's headers

namespace smemtune {

ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
    ProcessResult result;
    std::array<int, 2> pipe_ends{};
    if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return result;
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: a deadline ends its children too, and Ctrl-C does not cut a compile in flight.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = 0;
    result.started = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(pipe_ends[1]);

    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (result.started) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd ready{pipe_ends[0], POLLIN, 0};
        if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) {
            result.timed_out = true;
            kill(-pid, SIGKILL);
            break;
        }
        std::array<char, 4096> buffer{};
        const auto count = read(pipe_ends[0], buffer.data(), buffer.size());
        if (count == 0) break;
        if (count > 0) result.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(pipe_ends[0]);
    if (result.started) {
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return result;
}

}  // namespace smemtune
