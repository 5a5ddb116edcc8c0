// If several threads ask for the same work at the same time, only one of them does it.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace smemtune {

/// Any thread may use the object. It keeps no results: a call after the work has ended or failed does the work again.
template <class Key, class Value>
class SingleFlight {
public:
    /// Returns work(). If another thread is already doing the work of this key, waits for that thread instead, and
    /// returns its result or throws its exception. No lock is held during the work.
    Value run(const Key& key, const std::function<Value()>& work) {
        if (const auto running = begin(key); running.valid()) return running.get();
        std::optional<Value> value;
        std::exception_ptr failure;
        try {
            value.emplace(work());
        } catch (...) {
            failure = std::current_exception();
        }
        if (auto waited_for = finish(key)) pass_on(value, failure, *waited_for);
        if (failure) std::rethrow_exception(failure);
        return *std::move(value);
    }

    /// Returns the future result if a thread is doing the work of this key now; else an invalid future.
    [[nodiscard]] std::shared_future<Value> join(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto running = running_.find(key);
        return running == running_.end() ? std::shared_future<Value>() : future_of(running->second);
    }

private:
    // The work of a key, while a thread does it. The promise is made only when another thread wants to wait for the
    // result, because a promise takes about a microsecond.
    struct Flight {
        std::optional<std::promise<Value>> promise;
        std::shared_future<Value> future;
    };

    static std::shared_future<Value> future_of(Flight& flight) {
        if (!flight.promise) flight.future = flight.promise.emplace().get_future().share();
        return flight.future;
    }

    // Like join(). But if no thread is doing the work, registers that this thread does it.
    std::shared_future<Value> begin(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto [running, is_first] = running_.try_emplace(key);
        return is_first ? std::shared_future<Value>() : future_of(running->second);
    }

    // Gives the result to the threads that wait for it. If copying the value throws, they get the copy's exception.
    static void pass_on(const std::optional<Value>& value, std::exception_ptr failure, std::promise<Value>& to) {
        try {
            if (value) {
                auto copy = *value;  // made first: an exception within set_value() would leave the promise half set
                return to.set_value(std::move(copy));
            }
        } catch (...) {
            failure = std::current_exception();
        }
        to.set_exception(failure);
    }

    // Returns the promise if another thread waits for the result.
    std::optional<std::promise<Value>> finish(const Key& key) {
        const std::scoped_lock lock(mutex_);
        auto flight = running_.extract(key);
        return flight ? std::move(flight.mapped().promise) : std::nullopt;
    }

    std::mutex mutex_;
    std::map<Key, Flight> running_;
};

}  // namespace smemtune
