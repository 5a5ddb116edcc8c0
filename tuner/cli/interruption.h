// Ctrl-C: the first one asks a command to end in order, the second one ends the program.
#pragma once

#include <atomic>

namespace smemtune {

/// True once SIGINT or SIGTERM has come after watch_for_interruption().
const std::atomic<bool>& interrupted();

/// From now on the first of these signals writes `hint` to standard error, and the second ends the program with
/// interrupted_by_user. `hint` must last as long as the program.
void watch_for_interruption(const char* hint);

}  // namespace smemtune
