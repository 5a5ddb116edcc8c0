#include "tuner/compile/testbed_compiles.h"

namespace smemtune {

std::shared_future<TestbedBinaries> TestbedCompiles::of(const KernelTemplate& kernel_template, const Problem& problem) {
    auto& testbed = by_type_and_layout_[problem.type + " " + problem.layout];
    if (!testbed.valid()) {
        testbed =
            std::async(std::launch::async, [this, &kernel_template, &problem, throttle = pool_.throttle()]() mutable {
                const auto until_done = std::move(throttle);
                return compile_testbed(compiler_, kernel_template, problem);
            }).share();
    }
    return testbed;
}

}  // namespace smemtune
