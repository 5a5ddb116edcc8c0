// Notices that a kernel ends the process, for commands that run kernels of the host device in their own process. A
// kernel there is a C++ function, which may crash or call exit().
#pragma once

namespace smemtune {

/// Goes on in a child process. This process waits for the child, passes signals on to it, and exits with its exit code.
/// If the child ends without a call of end_supervised(), prints how it ended and exits with `unexpected` instead. Call
/// it before any thread starts. Without a child (too many processes), the command goes on unsupervised.
void supervise(int unexpected);

/// Tells the supervising process, if there is one, that this process is about to end by itself. Can be called in a
/// signal handler.
void end_supervised();

}  // namespace smemtune
