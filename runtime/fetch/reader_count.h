// Tells a writer when no reader uses the replaced data any more. A reader needs no lock and no write to shared memory.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>

namespace smemtune {

/// Readers count themselves in one of several cells, mostly one for each thread. A writer first publishes the
/// replacement and then waits, without blocking, until it has seen every cell at 0 once. Why that suffices: all
/// operations here and the writer's publication are sequentially consistent. A reader that a cell does not count has
/// either left, or will enter later and read the replacement.
class ReaderCount {
public:
    static constexpr std::size_t cells = 64;

    class Reading {
    public:
        explicit Reading(ReaderCount& readers) : cell_(readers.cells_.at(own_cell()).count) { ++cell_; }
        ~Reading() { --cell_; }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

    private:
        std::atomic<int>& cell_;
    };

    /// Which cells have not been seen at 0 since the publication.
    class Pending {
    public:
        /// Looks at the remaining cells. Returns whether all readers of the replaced data are done.
        bool is_over(const ReaderCount& readers) {
            for (std::size_t i = 0; i < cells; ++i) {
                if (!seen_.test(i) && readers.cells_.at(i).count == 0) seen_.set(i);
            }
            return seen_.all();
        }

    private:
        std::bitset<cells> seen_;
    };

private:
    struct alignas(64) Cell {  // a cache line each
        std::atomic<int> count = 0;
    };
    static std::size_t own_cell() {
        static std::atomic<std::size_t> threads = 0;
        static thread_local const std::size_t cell = threads++ % cells;
        return cell;
    }
    std::array<Cell, cells> cells_;
};

}  // namespace smemtune
