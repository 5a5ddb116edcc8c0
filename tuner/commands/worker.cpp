// smemtune worker: started by the coordinator, never by a person.
#include "tuner/worker/worker.h"

#include "tuner/commands/command.h"

namespace smemtune {

namespace po = boost::program_options;

int worker_command(const Arguments& arguments, const ProcessEnvironment&) {
    CommandLine line("worker", "smemtune worker: tries candidates for a coordinator, over file descriptors 3 and 4.");
    line.add()("device", po::value<std::string>()->required(), "as the coordinator names it");
    line.add_seed("of inputs and of the host's threads");
    if (!line.parse(arguments)) return success;
    serve_as_worker(line.text("device"), line.seed());
}

}  // namespace smemtune
