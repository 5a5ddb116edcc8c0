// smemtune worker: tries candidates. Only the coordinator starts this command, never the user.
#include "tuner/worker/worker.h"

#include "tuner/commands/command.h"

namespace smemtune {

int worker_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "worker",
         .summary = "Try candidates for 'smemtune tune', which starts this command. It reads requests from file "
                    "descriptor 3 and answers on 4."});
    line.add({.name = "device", .value = "D", .summary = "As the coordinator names it."});
    line.add_seed("Seed of inputs and of the host's threads.");
    if (!line.parse(arguments)) return success;
    if (!line.has("device")) throw UsageError("worker needs --device; 'smemtune tune' starts it with what it needs");
    serve_as_worker(line.text("device"), line.seed());
}

}  // namespace smemtune
