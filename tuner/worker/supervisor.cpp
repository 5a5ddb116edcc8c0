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
// NOLINTEND(*-avoid-non-const-global-variables)

void pass_on(int signal) { kill(supervised, signal); }

void pause_both(int) {
    kill(supervised, SIGSTOP);
    (void)raise(SIGSTOP);
    kill(supervised, SIGCONT);
}

// Whether code of a kernel probably caused the signal.
bool is_crash(int signal) {
    constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    return std::ranges::find(crashes, signal) != crashes.end();
}

bool was_ended(int read_end) {
    char byte = 0;
    ssize_t bytes = 0;
    do bytes = read(read_end, &byte, 1);
    while (bytes < 0 && errno == EINTR);
    return bytes == 1;
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
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
    const bool ended = was_ended(ends[0]);
    const auto status = status_of(child);
    if (ended && WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
    if (WIFSIGNALED(status) && !is_crash(WTERMSIG(status))) {  // such as Ctrl-C, or a closed pipe on standard output
        std::signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
    }
    const auto how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                         : fmt::format("exit code {}", WEXITSTATUS(status));
    (void)std::fputs(fmt::format("smemtune: the kernel or its reference ended the process ({}); correct it. 'smemtune "
                                 "tune' rejects such a configuration, and goes on with the others\n",
                                 how)
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
