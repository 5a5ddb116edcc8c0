// If several threads ask for the same work at the same time, only one of them does it.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>

namespace smemtune {

/// Any thread may use the object. It keeps no results: a call after the work has ended or failed does the work again.
template <class Key, class Value>
class SingleFlight {
public:
    /// Returns work(). If another thread is already doing the work of this key, waits for that thread instead, and
    /// returns its result or throws its exception. No lock is held during the work.
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

    /// Returns the future result if a thread is doing the work of this key now; else an invalid future.
    [[nodiscard]] std::shared_future<Value> join(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto running = running_.find(key);
        return running == running_.end() ? std::shared_future<Value>() : running->second;
    }

private:
    // Like join(). But if no thread is doing the work, registers `promise` as the source of the result.
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
