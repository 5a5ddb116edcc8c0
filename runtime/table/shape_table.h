// The table of known problems. Every fetch, on any thread, reads it. Only a new problem writes it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/table/counted.h"
#include "runtime/table/problem_key.h"
#include "templates/space/problem.h"

namespace smemtune {

/// Maps a problem and the name of a template ("" for any) to a shared, immutable Value. Any thread may use the table.
/// It has at most `capacity` entries. If a new entry would exceed the capacity, the table forgets a quarter of its
/// entries. It first forgets the entries that were not looked up since the last time it forgot entries.
template <class Value>
class ShapeTable {
public:
    explicit ShapeTable(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {
        AsymmetricFence::prepare();
        publish();
    }
    /// During the destructor and after it, other threads may copy and destroy references to the values.
    ~ShapeTable() {
        const std::unique_ptr<const Slots> last(slots_.load());
        for (const auto& entry : entries_) entry->held->close();
        ReaderCount::Pending pending;
        while (!pending.is_over(readers())) std::this_thread::yield();
    }
    ShapeTable(const ShapeTable&) = delete;
    ShapeTable& operator=(const ShapeTable&) = delete;

    /// Returns the value, or an empty reference. Takes no lock, and the only atomic operations are loads and stores. A
    /// thread's first look-up of a problem allocates a counter. Later look-ups allocate nothing. They write no memory
    /// that other threads use, with one exception: the first look-up of an entry after the table forgot entries sets
    /// the entry's `used` flag. All this holds for up to ThreadCell::own_cells threads; further threads share counters.
    [[nodiscard]] Reference<Value> find(const Problem& problem, std::string_view kernel_template) {
        const ProblemKey key(problem, kernel_template);
        const auto cell = ThreadCell::current();
        const ReaderCount::Reading reading(readers(), cell);
        const auto& slots = *slots_.load();
        for (auto at = key.hash() & slots.mask;; at = (at + 1) & slots.mask) {
            auto* entry = slots.entries[at].load(std::memory_order_acquire);
            if (entry == nullptr) return {};
            if (entry->key != key) continue;
            if (!key.is_complete() && (entry->problem != problem || entry->kernel_template != kernel_template))
                continue;
            if (!entry->used.load(std::memory_order_relaxed)) entry->used.store(true, std::memory_order_relaxed);
            return entry->reference(cell);
        }
    }

    /// Inserts `value` unless the problem has a value already. Returns the value that the table now has.
    Reference<Value> insert(const Problem& problem, std::string_view kernel_template,
                            std::shared_ptr<const Value> value) {
        std::vector<Replaced> done;  // destroyed after the lock is released: destroying a kernel may wait for a GPU
        const std::scoped_lock lock(mutex_);
        if (auto known = find(problem, kernel_template)) return known;
        entries_.push_back(std::make_unique<Entry>(problem, std::string(kernel_template), std::move(value)));
        auto inserted = [&] {
            const auto cell = ThreadCell::current();
            const ReaderCount::Reading reading(readers(), cell);
            return entries_.back()->reference(cell);
        }();
        if (entries_.size() > capacity_) {
            forget_some();
        } else if (2 * entries_.size() > slots_.load()->entries.size()) {
            replaced_.push_back({publish(), {}, {}});
        } else {
            place(*slots_.load(), entries_.back().get());
        }
        for (auto& each : replaced_) {
            if (each.pending.is_over(readers())) done.push_back(std::move(each));
        }
        std::erase_if(replaced_, [](const Replaced& each) { return each.slots == nullptr; });
        return inserted;
    }

    [[nodiscard]] std::size_t size() const {
        const std::scoped_lock lock(mutex_);
        return entries_.size();
    }

private:
    struct Held : Counted {
        explicit Held(std::shared_ptr<const Value> its_value) : value(std::move(its_value)) {}
        const std::shared_ptr<const Value> value;
    };

    struct Entry {
        Entry(Problem its_problem, std::string its_template, std::shared_ptr<const Value> its_value)
            : key(its_problem, its_template),
              problem(std::move(its_problem)),
              kernel_template(std::move(its_template)),
              held(new Held(std::move(its_value))) {}  // NOLINT(*-owning-memory)
        ~Entry() { held->give_up(); }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

        // Precondition: the calling thread has a ReaderCount::Reading.
        [[nodiscard]] Reference<Value> reference(ThreadCell cell) const {
            held->add_found(cell);
            return {held->value.get(), held};
        }

        const ProblemKey key;
        const Problem problem;
        const std::string kernel_template;
        Held* const held;                // the entry is the owner in the sense of Counted
        std::atomic<bool> used = false;  // whether a look-up found the entry since entries were last forgotten
    };
    // A hash table with open addressing and linear probing, at most half full. Entries are added in place, but never
    // removed: to forget entries, publish() replaces the whole table.
    struct Slots {
        explicit Slots(std::size_t size) : mask(size - 1), entries(size) {}
        std::size_t mask;  // the size is a power of 2
        std::vector<std::atomic<Entry*>> entries;
    };
    // Replaced slots and dropped entries that readers may still use.
    struct Replaced {
        std::unique_ptr<Slots> slots;
        std::vector<std::unique_ptr<Entry>> entries;
        ReaderCount::Pending pending;
    };

    static ReaderCount& readers() { return ReaderCount::of_process(); }

    static void place(Slots& slots, Entry* entry) {
        auto at = entry->key.hash() & slots.mask;
        while (slots.entries[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & slots.mask;
        slots.entries[at].store(entry, std::memory_order_release);
    }

    // Replaces the slots with new slots for all entries: at least four slots for each entry. Returns the old slots.
    std::unique_ptr<Slots> publish() {
        std::size_t size = 16;
        while (size < 4 * entries_.size()) size *= 2;
        auto slots = std::make_unique<Slots>(size);
        for (const auto& entry : entries_) place(*slots, entry.get());
        return std::unique_ptr<Slots>(slots_.exchange(slots.release()));
    }

    void forget_some() {
        const auto kept = capacity_ - capacity_ / 4;
        entries_.back()->used = true;  // the new entry is not forgotten
        // Moves the used entries behind the unused entries. Each of the two groups stays in the order of insertion.
        std::stable_partition(entries_.begin(), entries_.end(), [](const auto& entry) {
            return !entry->used.exchange(false, std::memory_order_relaxed);
        });
        const auto first_kept = entries_.end() - static_cast<std::ptrdiff_t>(kept);
        std::vector<std::unique_ptr<Entry>> forgotten(std::move_iterator(entries_.begin()),
                                                      std::move_iterator(first_kept));
        entries_.erase(entries_.begin(), first_kept);
        auto slots = publish();
        for (const auto& entry : forgotten) entry->held->close();
        replaced_.push_back({std::move(slots), std::move(forgotten), {}});
    }

    const std::size_t capacity_;
    std::atomic<Slots*> slots_ = nullptr;  // owning pointer
    mutable std::mutex mutex_;             // guards the members below; also locked to write the slots
    std::vector<std::unique_ptr<Entry>> entries_;
    std::vector<Replaced> replaced_;
};

}  // namespace smemtune
