// Tells a writer when no reader uses replaced data any more. A reader takes no lock. If it has a cell of its own, it
// writes no cache line that other threads write.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>

#include "runtime/table/asymmetric_fence.h"
#include "runtime/table/thread_cell.h"

namespace smemtune {

/// Each reader increments the cell of its thread before it reads, and decrements it afterwards. A writer publishes the
/// replacement and then polls until it has seen every cell at 0 once. Why that suffices: a reader first increments its
/// cell and then loads the published data. A writer first publishes and then loads the cells. An AsymmetricFence
/// separates the two steps on both sides. So if a writer sees a cell at 0, the cell's readers have ended, or they begin
/// later and read the replacement.
class ReaderCount {
public:
    static constexpr std::size_t cells = ThreadCell::all_cells;

    constexpr ReaderCount() = default;

    class Reading {
    public:
        Reading(ReaderCount& readers, ThreadCell cell)
            : count_(readers.cells_[cell.index].count), is_own_(cell.is_own()) {
            if (!is_own_) {  // other threads also write this cell, so the increment must be atomic
                ++count_;
                return;
            }
            const auto count = count_.load(std::memory_order_relaxed) + 1;
            if (AsymmetricFence::is_available()) {
                count_.store(count, std::memory_order_relaxed);
                std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps later loads behind the store
            } else {
                count_.store(count);
            }
        }
        ~Reading() {
            if (is_own_) {
                count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
            } else {
                --count_;
            }
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

    private:
        std::atomic<int>& count_;
        const bool is_own_;
    };

    /// A writer's wait: which cells it has seen at 0 since the replacement was published.
    class Pending {
    public:
        /// Checks the cells that were not yet seen at 0. Returns whether all readers of the replaced data have ended.
        /// Must be called only after the replacement was published.
        bool is_over(const ReaderCount& readers) {
            if (!fenced_) AsymmetricFence::heavy();
            fenced_ = true;
            for (std::size_t i = 0; i < cells; ++i) {
                if (!seen_.test(i) && readers.cells_.at(i).count == 0) seen_.set(i);
            }
            return seen_.all();
        }

    private:
        bool fenced_ = false;
        std::bitset<cells> seen_;
    };

    /// The one ReaderCount of the process. It is never destroyed, because a reference may outlive the table where it
    /// was found.
    static ReaderCount& of_process() {
        static constinit ReaderCount readers;  // constinit, so that no guard variable is checked
        return readers;
    }

private:
    struct alignas(64) Cell {  // each cell has a cache line of its own
        std::atomic<int> count = 0;
    };
    std::array<Cell, cells> cells_{};
};

}  // namespace smemtune
