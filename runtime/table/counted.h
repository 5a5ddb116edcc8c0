// A reference count. A thread with a counter of its own needs no atomic read-modify-write operation and writes no cache
// line that other threads write.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/table/reader_count.h"

namespace smemtune {

/// An object with an owner, such as a table, and with references that any thread may have. A thread that found the
/// object through the owner counts its references in a counter of its own. Other threads use one shared counter. After
/// the owner has given the object up, all threads use the shared counter, and the last reference destroys the object.
///
/// The owner gives the object up in three steps. First, it calls close(), after which threads use the shared counter.
/// Second, it waits until no thread can still be changing its own counter (ReaderCount::Pending, on
/// ReaderCount::of_process()). Third, it calls give_up(), which adds the threads' own counters to the shared one.
class Counted {
public:
    Counted() = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    virtual ~Counted();

    /// Adds a reference. The calling thread must have one already.
    void add() { count(1); }
    /// Removes a reference. May destroy the object.
    void remove() {
        if (count(-1)) delete this;
    }
    /// Adds a reference for a thread that has just found the object through its owner. The thread must have constructed
    /// a ReaderCount::Reading (on ReaderCount::of_process()) before it looked for the object, and must still have it.
    /// The first call of a thread allocates the thread's counter.
    void add_found(ThreadCell cell) {
        if (cell.is_own()) {  // safe even after close(): the owner's Pending waits for this thread's Reading
            auto* const mine = counters_[cell.index].load(std::memory_order_relaxed);
            if (mine != nullptr || make_counter(cell)) return step(*counters_[cell.index].load(), 1);
        }
        shared_.fetch_add(1, std::memory_order_relaxed);
    }

    /// The owner calls close() when threads can no longer find the object through the owner, and before it makes the
    /// Pending.
    void close() { is_closed_ = true; }
    /// The owner calls give_up() when the Pending is over. Destroys the object if there is no reference.
    void give_up();

private:
    struct alignas(64) Counter {  // each counter has a cache line of its own
        std::atomic<std::int64_t> references = 0;
    };
    // Needs no atomic addition, because only the thread that has the cell writes the counter.
    static void step(Counter& counter, int more) {
        counter.references.store(counter.references.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    bool make_counter(ThreadCell cell);

    // Returns whether the object now has neither references nor an owner.
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

    // The shared counter includes this number while the object has an owner, so that the counter cannot become 0 before
    // give_up().
    static constexpr std::int64_t owned = std::int64_t{1} << 62;
    std::atomic<bool> is_closed_ = false;
    std::array<std::atomic<Counter*>, ThreadCell::own_cells> counters_{};  // owning pointers; null until made
    alignas(64) std::atomic<std::int64_t> shared_ = owned;
};

/// A reference to a value inside a Counted object. Empty if default-constructed.
template <class Value>
class Reference {
public:
    Reference() = default;
    /// Takes over a reference that is counted already. `value` must live as long as `counted`.
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
    /// Returns the Counted object and becomes empty. The caller must remove the reference later.
    Counted* release() {
        value_ = nullptr;
        return std::exchange(counted_, nullptr);
    }

private:
    const Value* value_ = nullptr;
    Counted* counted_ = nullptr;
};

}  // namespace smemtune
