// Gives each thread a number: the index of counters that no other thread writes.
#pragma once

#include <cstddef>

namespace smemtune {

/// Up to `own_cells` living threads have cells of their own, with an index below `own_cells`. Further threads share the
/// cells from there on. When a thread ends, its cell can go to another thread.
struct ThreadCell {
    static constexpr std::size_t own_cells = 32;
    static constexpr std::size_t all_cells = 2 * own_cells;

    std::size_t index;
    [[nodiscard]] bool is_own() const { return index < own_cells; }

    /// The cell of the calling thread. Takes a lock only at a thread's first call.
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
