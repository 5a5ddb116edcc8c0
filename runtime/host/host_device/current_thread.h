// The CUDA thread that the calling operating system thread runs now, as a fiber.
#pragma once

#include "../layout.h"

namespace smemtune_host {

inline thread_local SmemtuneThread* current = nullptr;

}  // namespace smemtune_host
