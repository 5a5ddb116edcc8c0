#include "tuner/compile_pool.h"

#include "templates/hash.h"

namespace smemtune {

CompilePool::CompilePool(const Compiler& compiler, unsigned threads) : compiler_(compiler) {
    for (unsigned i = 0; i < threads; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
}

CompilePool::~CompilePool() {
    for (auto& thread : threads_) thread.request_stop();
}

std::shared_future<CompilePool::Result> CompilePool::submit(const Program& program) {
    std::string key = program.entry + '\0' + program.source_path;
    for (const auto& [path, text] : program.files) key += '\0' + path + '\0' + text;
    key = content_hash(key);
    std::packaged_task<Result()> task([this, program] { return compiler_.compile(program); });
    const std::scoped_lock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    auto future = task.get_future().share();
    known_.emplace(key, future);
    queue_.push_back(std::move(task));
    changed_.notify_one();
    return future;
}

void CompilePool::serve(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
        auto task = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        task();
    }
}

}  // namespace smemtune
