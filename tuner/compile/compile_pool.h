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

    /// `compiler` must outlive the pool. The pool keeps the last `most_kept` results, including speculative ones.
    /// `finished` is called after each compile, by the compiling thread.
    CompilePool(const Compiler& compiler, unsigned threads, std::function<void()> finished = {},
                std::size_t most_kept = 256);
    /// Drops all queued compiles.
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    /// Submits a program. The program is not compiled again if its result is kept or its compile is queued or running.
    /// The future throws the compiler's exceptions.
    std::shared_future<Result> submit(const Program& program);
    /// Whether the program was submitted before and its result is still kept. Speculative compiles do not count.
    [[nodiscard]] bool was_asked_for(const Program& program);

    /// A function that creates a program. The pool calls it just before the compile, while the pool's lock is held. The
    /// function must neither throw nor call the pool. Everything that it refers to must outlive the pool.
    using LazyProgram = std::function<Program()>;
    /// Sets the programs that may be submitted later, in the order in which to compile them. They replace those
    /// programs of earlier calls that are still queued. Speculative programs are compiled only while no submitted
    /// program is queued. A few threads always stay free for submitted programs, because a running compile cannot be
    /// stopped.
    void speculate(std::vector<LazyProgram> programs);

    /// While the returned object lives, the pool starts compiles on only a quarter of its threads (at least one), and
    /// starts no speculative compiles. Use this while a more urgent compile runs elsewhere, because concurrent
    /// compilers slow one another. The pool must outlive the returned object.
    [[nodiscard]] std::shared_ptr<void> throttle();

private:
    using Task = std::packaged_task<Result()>;
    struct Known {
        std::string key;  // from key_of(): programs with equal keys have the same machine code
        std::shared_future<Result> result;
        bool asked_for;
    };
    // The files that all configurations of a template share, and their digest.
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
    unsigned width_;            // number of threads
    unsigned compiling_ = 0;    // number of threads that compile now
    unsigned speculating_ = 0;  // number of threads that compile a speculative program now
    int throttles_ = 0;         // the number of objects from throttle() that exist now
    std::list<Known> known_;    // results, most recently used first
    std::map<std::string, std::list<Known>::iterator, std::less<>> by_key_;
    std::list<Sources> sources_;  // the sources of recent templates, most recently used first
    std::size_t most_kept_;
    std::vector<std::jthread> threads_;
};

}  // namespace smemtune
