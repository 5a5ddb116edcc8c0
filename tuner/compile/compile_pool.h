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

    /// `compiler` must outlive the pool, which keeps the last `most_kept` results, speculative ones included.
    /// `finished` is called after each compile, by the thread that did it.
    CompilePool(const Compiler& compiler, unsigned threads, std::function<void()> finished = {},
                std::size_t most_kept = 256);
    /// Drops what has not begun.
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    /// The same program is compiled once, as long as it is kept or still to be compiled. The future throws what the
    /// compiler throws.
    std::shared_future<Result> submit(const Program& program);
    /// Whether the program was submitted before, and is kept; a speculative compile does not count.
    [[nodiscard]] bool was_asked_for(const Program& program);

    /// Makes a program when a thread is about to compile it, under the pool's lock. What it refers to must outlive the
    /// pool; it must neither throw nor call the pool.
    using LazyProgram = std::function<Program()>;
    /// Programs that may be submitted later, in the order in which to compile them; they replace earlier ones that have
    /// not begun. They are compiled while nothing else is queued, by all threads but some, because a compile that has
    /// begun cannot be put off.
    void speculate(std::vector<LazyProgram> programs);

    /// While its result lives, the pool begins compiles on a quarter of its threads only: compilers that run at once
    /// slow one another, and another compile must be done first. The pool must outlive the result.
    [[nodiscard]] std::shared_ptr<void> throttle();

private:
    using Task = std::packaged_task<Result()>;
    struct Known {
        std::string key;  // everything that decides the machine code
        std::shared_future<Result> result;
        bool asked_for;
    };
    // The files that the configurations of one template share, and their digest.
    struct Sources {
        SourceTree files;
        std::string digest;
    };

    void serve(const std::stop_token& stop);
    void run(Task task, std::unique_lock<std::mutex>& lock);
    void compile_speculatively(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool may_begin() const;
    [[nodiscard]] bool may_speculate() const;
    std::string key_of(const Program& program);
    Known* find(const std::string& key);
    Task begin(std::string key, const Program& program, bool asked_for);
    void forget_oldest();

    const Compiler& compiler_;
    std::function<void()> finished_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Task> queue_;
    std::deque<LazyProgram> speculative_;
    unsigned width_;            // threads
    unsigned compiling_ = 0;    // threads that compile
    unsigned speculating_ = 0;  // of those, the ones whose program was not submitted
    int throttles_ = 0;         // that live
    std::list<Known> known_;    // the last used first
    std::map<std::string, std::list<Known>::iterator, std::less<>> by_key_;
    std::list<Sources> sources_;  // the last used first
    std::size_t most_kept_;
    std::vector<std::jthread> threads_;
};

}  // namespace smemtune
