#include "runtime/table/asymmetric_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace smemtune {

namespace {

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void AsymmetricFence::prepare() {
    [[maybe_unused]] static const bool once =
        (available_ = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED), true);
}

void AsymmetricFence::heavy() {
    prepare();
    if (!is_available() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // After a fork, the new process may have to register again.
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // The process has installed a filter of system calls, and this filter refuses membarrier. From now on the light
    // side uses sequentially consistent stores. The light side's earlier stores become visible within microseconds,
    // when they leave the store buffers. The sleep waits for them.
    available_ = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace smemtune
