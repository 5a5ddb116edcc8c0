// Does work once that several threads ask for at the same time.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>

namespace smemtune {

/// Any thread may call it. It keeps no results: a later call repeats work that has ended or failed.
template <class Key, class Value>
class SingleFlight {
public:
    /// Calls `work`. If another thread is already doing the work of this key, waits for it instead, and returns or
    /// throws what that thread does. No lock is held during the work.
    Value run(const Key& key, const std::function<Value()>& work) {
        std::promise<Value> promise;
        if (const auto running = begin(key, promise); running.valid()) return running.get();
        try {
            auto value = work();
            finish(key);
            promise.set_value(value);
            return value;
        } catch (...) {
            finish(key);
            promise.set_exception(std::current_exception());
            throw;
        }
    }

    /// The result of the work of this key, if a thread is doing it now; else an invalid future.
    [[nodiscard]] std::shared_future<Value> join(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto running = running_.find(key);
        return running == running_.end() ? std::shared_future<Value>() : running->second;
    }

private:
    // Like join(). If no thread is doing the work, registers `promise` for its result.
    std::shared_future<Value> begin(const Key& key, std::promise<Value>& promise) {
        const std::scoped_lock lock(mutex_);
        const auto [running, is_first] = running_.try_emplace(key);
        if (!is_first) return running->second;
        running->second = promise.get_future().share();
        return {};
    }

    void finish(const Key& key) {
        const std::scoped_lock lock(mutex_);
        running_.erase(key);
    }

    std::mutex mutex_;
    std::map<Key, std::shared_future<Value>> running_;
};

}  // namespace smemtune
