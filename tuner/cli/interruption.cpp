#include "tuner/cli/interruption.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "tuner/cli/command_line.h"
#include "tuner/worker/supervisor.h"

namespace smemtune {

namespace {

// NOLINTBEGIN(*-avoid-non-const-global-variables): a signal handler reaches only global variables
std::atomic<bool> came = false;
std::atomic<const char*> first_hint = "";
// NOLINTEND(*-avoid-non-const-global-variables)

void interrupt(int) {
    if (came.exchange(true)) {
        end_supervised();
        std::_Exit(interrupted_by_user);
    }
    const std::string_view hint = first_hint.load();
    [[maybe_unused]] const auto written = write(STDERR_FILENO, hint.data(), hint.size());
}

}  // namespace

const std::atomic<bool>& interrupted() { return came; }

void watch_for_interruption(const char* hint) {
    first_hint = hint;
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
}

}  // namespace smemtune
