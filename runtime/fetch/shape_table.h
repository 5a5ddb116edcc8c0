// The table of known problems. Any thread reads it at every fetch; it is written once for each new problem.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/fetch/reader_count.h"
#include "templates/space/problem.h"

namespace smemtune {

/// A hash of all values of the problem and of the name.
inline std::size_t hash_of(const Problem& problem, std::string_view kernel_template) {
    std::size_t hash = 0;
    const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15U + (hash >> 29); };
    for (const std::string_view text : {std::string_view(problem.operation), std::string_view(problem.type),
                                        std::string_view(problem.layout), kernel_template}) {
        mix(std::hash<std::string_view>{}(text));
    }
    for (const auto& [name, extent] : problem.extents) mix(static_cast<std::size_t>(extent));
    return hash ^ (hash >> 32);
}

/// Maps a problem and the name of a template ("" for any) to a Value that is cheap to copy, such as a shared_ptr. Any
/// thread may call it. It holds at most `capacity` problems. When there are more, it drops a quarter, first those that
/// were not looked up since the last drop.
template <class Value>
class ShapeTable {  // NOLINT(clang-analyzer-optin.performance.Padding): ReaderCount keeps cache lines apart
public:
    explicit ShapeTable(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) { publish(); }
    ~ShapeTable() { const std::unique_ptr<const Slots> last(slots_.load()); }
    ShapeTable(const ShapeTable&) = delete;
    ShapeTable& operator=(const ShapeTable&) = delete;

    /// Takes no lock and allocates nothing. It writes to memory that other threads read only at the first look-up of
    /// a problem since entries were forgotten.
    [[nodiscard]] std::optional<Value> find(const Problem& problem, std::string_view kernel_template) {
        const auto hash = hash_of(problem, kernel_template);
        const ReaderCount::Reading reading(readers_);
        const auto& slots = *slots_.load();
        for (auto at = hash & slots.mask;; at = (at + 1) & slots.mask) {
            auto* entry = slots.entries[at].load(std::memory_order_acquire);
            if (entry == nullptr) return std::nullopt;
            if (entry->hash != hash || entry->problem != problem || entry->kernel_template != kernel_template) continue;
            if (!entry->used.load(std::memory_order_relaxed)) entry->used.store(true, std::memory_order_relaxed);
            return entry->value;
        }
    }

    /// Keeps the value that is there, if any.
    void insert(const Problem& problem, std::string_view kernel_template, Value value) {
        std::vector<Replaced> done;  // destroyed after the lock is released: destroying a kernel may wait for a GPU
        const std::scoped_lock lock(mutex_);
        if (find(problem, kernel_template)) return;
        entries_.push_back(std::make_unique<Entry>(hash_of(problem, kernel_template), problem,
                                                   std::string(kernel_template), std::move(value)));
        if (entries_.size() > capacity_) {
            forget_some();
        } else if (2 * entries_.size() > slots_.load()->entries.size()) {
            replaced_.push_back({publish(), {}, {}});
        } else {
            place(*slots_.load(), entries_.back().get());
        }
        for (auto& each : replaced_) {
            if (each.pending.is_over(readers_)) done.push_back(std::move(each));
        }
        std::erase_if(replaced_, [](const Replaced& each) { return each.slots == nullptr; });
    }

    [[nodiscard]] std::size_t size() const {
        const std::scoped_lock lock(mutex_);
        return entries_.size();
    }

private:
    struct Entry {
        Entry(std::size_t its_hash, Problem its_problem, std::string its_template, Value its_value)
            : hash(its_hash),
              problem(std::move(its_problem)),
              kernel_template(std::move(its_template)),
              value(std::move(its_value)) {}
        const std::size_t hash;
        const Problem problem;
        const std::string kernel_template;
        const Value value;
        std::atomic<bool> used = false;  // looked up since entries were last forgotten
    };
    // Open addressing with linear probing, never more than half full. Entries are added in place, and never removed.
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

    static void place(Slots& slots, Entry* entry) {
        auto at = entry->hash & slots.mask;
        while (slots.entries[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & slots.mask;
        slots.entries[at].store(entry, std::memory_order_release);
    }

    // Replaces the slots by new ones with all entries, twice as many as are needed. Returns the replaced ones.
    std::unique_ptr<Slots> publish() {
        std::size_t size = 16;
        while (size < 4 * entries_.size()) size *= 2;
        auto slots = std::make_unique<Slots>(size);
        for (const auto& entry : entries_) place(*slots, entry.get());
        return std::unique_ptr<Slots>(slots_.exchange(slots.release()));
    }

    void forget_some() {
        const auto kept = capacity_ - capacity_ / 4;
        entries_.back()->used = true;  // the new one stays
        // The used entries move behind the unused ones; both groups stay in the order of insertion.
        std::stable_partition(entries_.begin(), entries_.end(), [](const auto& entry) {
            return !entry->used.exchange(false, std::memory_order_relaxed);
        });
        const auto first_kept = entries_.end() - static_cast<std::ptrdiff_t>(kept);
        std::vector<std::unique_ptr<Entry>> forgotten(std::move_iterator(entries_.begin()),
                                                      std::move_iterator(first_kept));
        entries_.erase(entries_.begin(), first_kept);
        auto slots = publish();
        replaced_.push_back({std::move(slots), std::move(forgotten), {}});
    }

    const std::size_t capacity_;
    ReaderCount readers_;
    std::atomic<Slots*> slots_ = nullptr;  // owned
    mutable std::mutex mutex_;             // writers hold it; guards the members below
    std::vector<std::unique_ptr<Entry>> entries_;
    std::vector<Replaced> replaced_;
};

}  // namespace smemtune
