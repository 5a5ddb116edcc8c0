// A count of references that costs threads no locked operation and no shared cache line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/table/reader_count.h"

namespace smemtune {

/// An object with an owner, such as a table, and references by any thread. A thread that found it through the owner
/// counts its references in a counter of its own. Other threads, and all threads after the owner gave it up, count in
/// one that they share. After that, the last reference destroys the object.
///
/// Giving up has two steps. After close(), threads begin to use the shared counter. When no thread can be in the middle
/// of counting in its own one (ReaderCount::Pending, on the ReaderCount of the process), these are final, and give_up()
/// adds them to the shared one.
class Counted {
public:
    Counted() = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    virtual ~Counted();

    /// One more reference, by a thread that has one.
    void add() { count(1); }
    /// One reference less. May destroy the object.
    void remove() {
        if (count(-1)) delete this;
    }
    /// The first reference of a thread that found the object through its owner, and is Reading (of the process) since
    /// before it did. Allocates the thread's counter.
    void add_found(ThreadCell cell) {
        if (cell.is_own()) {  // also if it is closed by now: a Pending waits for this thread
            auto* const mine = counters_[cell.index].load(std::memory_order_relaxed);
            if (mine != nullptr || make_counter(cell)) return step(*counters_[cell.index].load(), 1);
        }
        shared_.fetch_add(1, std::memory_order_relaxed);
    }

    /// By the owner, once no new reference can be found through it, before the Pending is made.
    void close() { is_closed_ = true; }
    /// By the owner, once the Pending is over. Destroys the object if there is no reference.
    void give_up();

private:
    struct alignas(64) Counter {  // a cache line of its own
        std::atomic<std::int64_t> references = 0;
    };
    // Only the thread of the counter's cell writes to it.
    static void step(Counter& counter, int more) {
        counter.references.store(counter.references.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    bool make_counter(ThreadCell cell);

    // Returns whether the object has neither references nor an owner any more.
    bool count(int more) {
        if (const auto cell = ThreadCell::current(); cell.is_own()) {
            const ReaderCount::Reading reading(ReaderCount::of_process(), cell);
            auto* const mine = counters_[cell.index].load(std::memory_order_relaxed);
            if (mine != nullptr && !is_closed_.load()) {
                step(*mine, more);
                return false;
            }
        }
        return shared_.fetch_add(more, std::memory_order_acq_rel) + more == 0;
    }

    // The shared counter is this much too high while there is an owner, so that it is never 0 then.
    static constexpr std::int64_t owned = std::int64_t{1} << 62;
    std::atomic<bool> is_closed_ = false;
    std::array<std::atomic<Counter*>, ThreadCell::own_cells> counters_{};  // by cell; owned
    alignas(64) std::atomic<std::int64_t> shared_ = owned;
};

/// A reference to a Value that a Counted object holds. Empty if made by default.
template <class Value>
class Reference {
public:
    Reference() = default;
    /// Takes over a reference that is counted already. `value` lives as long as `counted`.
    Reference(const Value* value, Counted* counted) : value_(value), counted_(counted) {}
    Reference(const Reference& other) : value_(other.value_), counted_(other.counted_) {
        if (counted_ != nullptr) counted_->add();
    }
    Reference(Reference&& other) noexcept
        : value_(std::exchange(other.value_, nullptr)), counted_(std::exchange(other.counted_, nullptr)) {}
    Reference& operator=(Reference other) noexcept {
        std::swap(value_, other.value_);
        std::swap(counted_, other.counted_);
        return *this;
    }
    ~Reference() {
        if (counted_ != nullptr) counted_->remove();
    }

    [[nodiscard]] const Value* get() const { return value_; }
    const Value& operator*() const { return *value_; }
    const Value* operator->() const { return value_; }
    explicit operator bool() const { return value_ != nullptr; }
    /// The object, whose reference the caller takes over.
    Counted* release() {
        value_ = nullptr;
        return std::exchange(counted_, nullptr);
    }

private:
    const Value* value_ = nullptr;
    Counted* counted_ = nullptr;
};

}  // namespace smemtune
