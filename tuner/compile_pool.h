// Compiles candidates on several threads, ahead of the device that will try them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <list>
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

    /// `compiler` must outlive the pool, which keeps the last `most_kept` results that were asked for. `finished` is
    /// called after each compile, by the thread that did it.
    CompilePool(const Compiler& compiler, unsigned threads, std::function<void()> finished = {},
                std::size_t most_kept = 256);
    /// Drops what has not begun.
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    /// The same program is compiled once, as long as it is kept or still to be compiled. The future throws what the
    /// compiler throws.
    std::shared_future<Result> submit(const Program& program);

private:
    struct Known {
        std::string key;  // everything that the machine code depends on
        std::shared_future<Result> result;
    };
    // The files of a template, which its configurations share, and their digest.
    struct Sources {
        SourceTree files;
        std::string digest;
    };

    void serve(const std::stop_token& stop);
    std::string key_of(const Program& program);
    void forget_oldest();

    const Compiler& compiler_;
    std::function<void()> finished_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::packaged_task<Result()>> queue_;
    std::list<Known> known_;  // the last used first
    std::map<std::string, std::list<Known>::iterator, std::less<>> by_key_;
    std::list<Sources> sources_;  // the last used first
    std::size_t most_kept_;
    std::vector<std::jthread> threads_;
};

}  // namespace smemtune
