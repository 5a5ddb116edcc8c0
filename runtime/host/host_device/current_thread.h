// Which CUDA thread runs: a fiber of this operating system thread.
#pragma once

#include "../layout.h"

namespace smemtune_host {

inline thread_local SmemtuneThread* current = nullptr;

}  // namespace smemtune_host
