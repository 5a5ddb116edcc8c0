// Where kernels that run in this process print to. A worker is another process, and worker.cpp does the same for it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace smemtune {

/// While it exists, standard output is standard error. Kernels then do not print into the output of the command, which
/// may be JSON.
class KernelOutputOnStderr {
public:
    KernelOutputOnStderr() : output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
        (void)std::fflush(stdout);  // to the output, not to standard error
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
