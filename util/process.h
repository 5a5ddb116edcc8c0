// Runs a program to its end and keeps its output. Makes pipes to other programs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace smemtune {

struct ProcessResult {
    bool started = false;
    bool timed_out = false;
    int exit_code = -1;  ///< 128 + signal when a signal ended it
    std::string output;  ///< standard output and error together
};

/// Finds `arguments[0]` on PATH. Kills the program when it runs longer than `limit`. Works whatever the calling process
/// does with SIGCHLD and with descriptors 0 to 2, and changes neither.
ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit);

struct Pipe {
    int read_end = -1, write_end = -1;
};
/// Both ends are above 2 and close on exec: a process that was started with descriptor 0, 1 or 2 closed would otherwise
/// use an end of the pipe as its standard output. Both are -1 if the system has no descriptors left.
Pipe make_pipe();

/// For main(): opens /dev/null as each of the descriptors 0 to 2 that is closed.
void open_standard_descriptors();

}  // namespace smemtune
