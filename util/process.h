// Runs a program to its end and keeps what it printed.
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

/// Finds `arguments[0]` on PATH. Kills the program when it runs longer than `limit`.
ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit);

}  // namespace smemtune
