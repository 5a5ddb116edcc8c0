// Ctrl-C: after the first signal, a command finishes its current step, and then ends. The second signal ends the
// program at once.
#pragma once

#include <atomic>

namespace smemtune {

/// True once SIGINT or SIGTERM arrived after watch_for_interruption().
const std::atomic<bool>& interrupted();

/// From now on, the first signal prints `hint` to standard error, and the second one ends the program with
/// interrupted_by_user. `hint` must live until the program ends.
void watch_for_interruption(const char* hint);

}  // namespace smemtune
