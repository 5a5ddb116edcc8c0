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

    /// `compiler` must outlive the pool, which keeps the last `most_kept` results, asked for or guessed. `finished` is
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
    /// Whether the program was asked for before, and is kept; one that was only guessed was not.
    [[nodiscard]] bool was_asked_for(const Program& program);

    using Guess = std::function<Program()>;
    /// What may be asked for later, the longest compiles best first; in place of earlier guesses that have not begun.
    /// They are compiled while nothing is asked for, by all threads but some, for what is begun cannot be put off. A
    /// guess is called by one of the threads, under the pool's lock: what it stands on must outlive the pool, and it
    /// must neither throw nor call the pool.
    void guess(std::vector<Guess> guesses);

    /// Until what it returns is gone, the pool begins compiles on a quarter of its threads only: compilers that run at
    /// once slow one another, and something else must be compiled first. The pool must outlive it.
    [[nodiscard]] std::shared_ptr<void> step_back();

private:
    using Task = std::packaged_task<Result()>;
    struct Known {
        std::string key;  // everything that the machine code depends on
        std::shared_future<Result> result;
        bool asked_for;
    };
    // The files of a template, which its configurations share, and their digest.
    struct Sources {
        SourceTree files;
        std::string digest;
    };

    void serve(const std::stop_token& stop);
    void run(Task task, std::unique_lock<std::mutex>& lock);
    void compile_guess(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool may_begin() const;
    [[nodiscard]] bool may_guess() const;
    std::string key_of(const Program& program);
    Known* find(const std::string& key);
    Task begin(std::string key, const Program& program, bool asked_for);
    void forget_oldest();

    const Compiler& compiler_;
    std::function<void()> finished_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Task> queue_;
    std::deque<Guess> guesses_;
    unsigned width_;          // threads in all,
    unsigned compiling_ = 0;  // at work,
    unsigned guessing_ = 0;   // and of those, on guesses
    int stepped_back_ = 0;    // how often at once
    std::list<Known> known_;  // the last used first
    std::map<std::string, std::list<Known>::iterator, std::less<>> by_key_;
    std::list<Sources> sources_;  // the last used first
    std::size_t most_kept_;
    std::vector<std::jthread> threads_;
};

}  // namespace smemtune
