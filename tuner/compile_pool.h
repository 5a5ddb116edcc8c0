// Compiles candidates on several threads, ahead of the device that will try them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "runtime/compiler.h"

namespace smemtune {

class CompilePool {
public:
    using Result = std::variant<Binary, Rejection>;

    /// `compiler` must outlive the pool.
    CompilePool(const Compiler& compiler, unsigned threads);
    /// Drops what has not begun.
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    /// The same program is compiled once. The future throws what the compiler throws.
    std::shared_future<Result> submit(const Program& program);

private:
    void serve(const std::stop_token& stop);

    const Compiler& compiler_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::packaged_task<Result()>> queue_;
    std::map<std::string, std::shared_future<Result>> known_;  // by everything that the machine code depends on
    std::vector<std::jthread> threads_;
};

}  // namespace smemtune
