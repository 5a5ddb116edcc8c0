#include "util/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace smemtune {

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;  // guards failed_at and failure
    std::size_t failed_at = count;
    std::exception_ptr failure;
    const auto run = [&] {
        for (auto i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                next = count;  // no further index is taken; all lower indices have already been taken
                const std::scoped_lock lock(mutex);
                if (i < failed_at) {
                    failed_at = i;
                    failure = std::current_exception();
                }
            }
        }
    };
    {
        std::vector<std::jthread> pool;
        for (std::size_t i = 0; i < std::min(std::max<std::size_t>(threads, 1), count); ++i) pool.emplace_back(run);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace smemtune
