// posix_spawn by hand: Boost.Process 1.74 cannot wait for output and a deadline at once without its own event loop.
#include "util/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>
#include <thread>

extern char** environ;  // NOLINT(*-redundant-declaration,*-global-variables): POSIX; not in every header

namespace smemtune {

ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
    ProcessResult result;
    std::array<int, 2> pipe_ends{};
    if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return result;
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // The program gets its own process group: the deadline ends its children too, and Ctrl-C does not interrupt a
    // running compile.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = 0;
    result.started = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(pipe_ends[1]);

    const auto deadline = std::chrono::steady_clock::now() + limit;
    const auto left_ms = [&] {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
    };
    while (result.started) {
        pollfd ready{pipe_ends[0], POLLIN, 0};
        const auto patience = left_ms();
        const auto polled = patience == 0 ? 0 : poll(&ready, 1, patience);
        if (polled < 0 && errno == EINTR) continue;
        result.timed_out = polled == 0;
        if (polled <= 0) break;
        std::array<char, 4096> buffer{};
        const auto count = read(pipe_ends[0], buffer.data(), buffer.size());
        if (count == 0) break;
        if (count > 0) result.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(pipe_ends[0]);
    if (!result.started) return result;

    int status = 0;
    pid_t ended = 0;
    while (ended == 0 || (ended < 0 && errno == EINTR)) {
        if (!result.timed_out && left_ms() == 0) result.timed_out = true;
        if (result.timed_out) kill(-pid, SIGKILL);
        ended = waitpid(pid, &status, result.timed_out ? 0 : WNOHANG);
        // The program has closed its output, so it usually ends soon. Its time limit still applies if it does not.
        if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (ended == pid) result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}  // namespace smemtune
