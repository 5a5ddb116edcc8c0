// Gives each thread a number, with which it indexes arrays of counters. Few threads then write the same counter.
#pragma once

#include <cstddef>

namespace smemtune {

/// Up to `own_cells` living threads have cells of their own, with indices below `own_cells`. Further threads share the
/// cells with indices from `own_cells` on. When a thread ends, another thread can get its cell.
struct ThreadCell {
    static constexpr std::size_t own_cells = 32;
    static constexpr std::size_t all_cells = 2 * own_cells;

    std::size_t index;
    [[nodiscard]] bool is_own() const { return index < own_cells; }

    /// Returns the cell of the calling thread. Takes a lock only at the thread's first call.
    static ThreadCell current() {
        if (current_ == unknown) assign();
        return {current_};
    }

private:
    class Lease;
    static constexpr std::size_t unknown = all_cells;
    static void assign();
    static inline constinit thread_local std::size_t current_ = unknown;  // NOLINT(*-global-variables): of the thread
};

}  // namespace smemtune
