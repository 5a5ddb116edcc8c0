#include "tuner/worker/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace smemtune {

namespace {

// NOLINTBEGIN(*-avoid-non-const-global-variables): a signal handler reaches only global variables
std::atomic<int> to_supervisor = -1;  // in the child: the pipe's write end
std::atomic<pid_t> supervised = 0;    // in the parent: the child
std::atomic<int> passed_on = 0;       // in the parent: the last signal that pass_on() sent
std::atomic<int> signals = 0;         // in the parent: how often pass_on() was called
// NOLINTEND(*-avoid-non-const-global-variables)

// A child that its kernel has stopped must go on to receive the signal. The second signal ends a command at once. The
// third one ends a child that did not react.
void pass_on(int signal) {
    passed_on = signal;
    kill(supervised, ++signals > 2 ? SIGKILL : signal);
    kill(supervised, SIGCONT);
}

void pause_both(int) {
    kill(supervised, SIGSTOP);
    (void)raise(SIGSTOP);
    kill(supervised, SIGCONT);
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Whether the child called end_supervised(). The child has ended, but its own children may keep the pipe open.
bool was_ended(int read_end) {
    fcntl(read_end, F_SETFL, O_NONBLOCK);
    char byte = 0;
    return read(read_end, &byte, 1) == 1;
}

// Whether code of the kernel or the reference probably caused the signal.
bool is_crash(int signal) {
    constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    return std::ranges::find(crashes, signal) != crashes.end();
}

}  // namespace

void supervise(int unexpected) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    (void)std::fflush(nullptr);  // text in a buffer would be printed by both processes
    const auto parent = getpid();
    const auto child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return;
    }
    if (child == 0) {
        close(ends[0]);
        to_supervisor = ends[1];
        setpgid(0, 0);                  // Ctrl-C reaches only the parent, which passes it on
        std::signal(SIGTTOU, SIG_IGN);  // a process group in the background may write to the terminal
        std::signal(SIGTTIN, SIG_IGN);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(unexpected);
        return;
    }
    close(ends[1]);
    supervised = child;
    std::signal(SIGINT, pass_on);
    std::signal(SIGTERM, pass_on);
    std::signal(SIGTSTP, pause_both);
    const auto status = status_of(child);
    const bool ended = was_ended(ends[0]);
    kill(-child, SIGKILL);  // processes that the kernel started
    if (ended && WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal != 0 && (signal == passed_on || signal == SIGPIPE)) {  // SIGPIPE: nobody reads the output any more
        std::signal(signal, SIG_DFL);
        (void)raise(signal);
    }
    const auto how = signal != 0 ? std::string(strsignal(signal)) : fmt::format("exit code {}", WEXITSTATUS(status));
    const auto* const remedy = signal == 0 || is_crash(signal)
                                   ? "; correct them. 'smemtune tune' rejects such a configuration, and goes on with "
                                     "the others"
                                   : "";
    (void)std::fputs(
        fmt::format("smemtune: the process that ran the kernel and the reference ended unexpectedly ({}){}\n", how,
                    remedy)
            .c_str(),
        stderr);
    std::_Exit(unexpected);
}

void end_supervised() {
    const int pipe = to_supervisor.exchange(-1);
    if (pipe < 0) return;
    const char byte = 1;
    [[maybe_unused]] const auto written = write(pipe, &byte, 1);
}

}  // namespace smemtune
