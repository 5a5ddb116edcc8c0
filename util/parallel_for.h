// A loop whose iterations run on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace smemtune {

/// Calls work(0) ... work(count - 1), each once, in no fixed order, on up to `threads` threads (0 counts as 1), and
/// returns when all have ended. After a call that throws no further one begins, and the exception of the lowest index
/// that threw is rethrown.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace smemtune
