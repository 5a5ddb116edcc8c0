// Runs a program to its end and keeps its output. Makes pipes to other programs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace smemtune {

struct ProcessResult {
    bool started = false;
    bool timed_out = false;
    int exit_code = -1;  ///< 128 + signal if a signal ended the program
    std::string output;  ///< standard output and error together
};

/// Looks up the program `arguments[0]` on PATH and runs it to its end. Kills the program if it runs longer than
/// `limit`. Also works if the calling process handles or ignores SIGCHLD, or has closed descriptors 0 to 2. Changes
/// neither the handling of SIGCHLD nor these descriptors.
ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit);

struct Pipe {
    int read_end = -1, write_end = -1;
};
/// Makes a pipe. Both descriptors are closed on exec. Both are greater than 2, because a descriptor 0, 1 or 2 would be
/// taken for a standard stream. (These numbers are free if the process was started without standard streams.) If the
/// pipe cannot be made, for example because no descriptor is free, both ends are -1.
Pipe make_pipe();

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. main() calls this function first.
void open_standard_descriptors();

}  // namespace smemtune
