// A loop whose iterations run on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace smemtune {

/// Calls work(0) ... work(count - 1) once each, in no fixed order, on up to `threads` threads (0 means 1). Returns when
/// all calls have ended. After a call throws, no further call begins. If several calls throw, rethrows the exception of
/// the call with the lowest index.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace smemtune
