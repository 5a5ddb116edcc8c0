#include "tuner/page/data/launch_facts.h"

#include <nlohmann/json.hpp>

#include "templates/launch/occupancy.h"

namespace smemtune {

nlohmann::json launch_facts(const KernelTemplate& kernel, const TrialRecord& trial, const Problem& problem,
                            const Device& device) {
    try {
        auto launch = launch_of(kernel, trial.configuration, problem, device);
        if (trial.resources.registers > 0) launch.registers = trial.resources.registers;
        if (trial.resources.static_shared_bytes > 0) launch.static_shared_bytes = trial.resources.static_shared_bytes;
        nlohmann::json facts{{"grid", launch.grid}, {"block", launch.block}, {"shared", launch.shared_bytes()}};
        if (device.is_host()) return facts;
        const auto resident = occupancy(launch, device);
        facts["resident"] = resident.blocks();
        facts["limiter"] = resident.limiter();
        facts["by"] = {{"threads", resident.by_threads},
                       {"shared memory", resident.by_shared_memory},
                       {"registers", resident.by_registers},
                       {"blocks", resident.by_blocks}};
        const auto at_once = resident.blocks() * device.multiprocessors;
        if (at_once > 0) facts["waves"] = static_cast<double>(launch.blocks()) / static_cast<double>(at_once);
        return facts;
    } catch (const std::exception&) {  // the manifest is of another version of smemtune, or does not fit the problem
        return {};
    }
}

}  // namespace smemtune
