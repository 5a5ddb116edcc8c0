// Redirects what kernels print in this process. For worker processes, worker.cpp does the same.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace smemtune {

/// While it exists, text for standard output goes to standard error. So kernels do not print into the output of the
/// command, which may be JSON.
class KernelOutputOnStderr {
public:
    KernelOutputOnStderr() : output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
        (void)std::fflush(stdout);  // earlier text still goes to standard output
        if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    ~KernelOutputOnStderr() {
        (void)std::fflush(stdout);
        if (output_ < 0) return;
        dup2(output_, STDOUT_FILENO);
        close(output_);
    }
    KernelOutputOnStderr(const KernelOutputOnStderr&) = delete;
    KernelOutputOnStderr& operator=(const KernelOutputOnStderr&) = delete;

private:
    int output_;  // a copy of the descriptor of standard output; negative if there is none
};

}  // namespace smemtune
