// Tells a writer when no reader uses the replaced data any more. A reader needs no lock and no write to shared memory.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>

#include "runtime/table/asymmetric_fence.h"
#include "runtime/table/thread_cell.h"

namespace smemtune {

/// Readers count themselves in the cell of their thread. A writer first publishes the replacement and then polls until
/// it has seen every cell at 0 once. Why that suffices: a reader enters and then loads the published data; a writer
/// publishes and then loads the cells, with an AsymmetricFence between the two steps of both. So a reader that a cell
/// does not count has either left, or will enter later and read the replacement.
class ReaderCount {
public:
    static constexpr std::size_t cells = ThreadCell::all_cells;

    constexpr ReaderCount() = default;

    class Reading {
    public:
        Reading(ReaderCount& readers, ThreadCell cell)
            : count_(readers.cells_[cell.index].count), is_own_(cell.is_own()) {
            if (!is_own_) {  // other threads write it, too
                ++count_;
                return;
            }
            const auto count = count_.load(std::memory_order_relaxed) + 1;
            if (AsymmetricFence::is_available()) {
                count_.store(count, std::memory_order_relaxed);
                std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler must not load first either
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

    /// The cells that have not been seen at 0 since the publication.
    class Pending {
    public:
        /// Looks at the remaining cells. Returns whether all readers of the replaced data are done. The first call
        /// comes after the publication.
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

    /// For references, which may outlive what they were found in. Never destroyed.
    static ReaderCount& of_process() {
        static constinit ReaderCount readers;  // initialised when the program is loaded, so this takes no guard
        return readers;
    }

private:
    struct alignas(64) Cell {  // a cache line each
        std::atomic<int> count = 0;
    };
    std::array<Cell, cells> cells_{};
};

}  // namespace smemtune
