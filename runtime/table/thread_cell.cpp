#include "runtime/table/thread_cell.h"

#include <bitset>
#include <mutex>

namespace smemtune {

namespace {

struct Cells {
    std::mutex mutex;
    std::bitset<ThreadCell::own_cells> leased;
    std::size_t sharing = 0;  // how often a shared cell was given to a thread so far
};

// Never destroyed: threads may end after the static objects of the program.
Cells& all_thread_cells() {
    static auto& cells = *new Cells;  // NOLINT(*-owning-memory,*-global-variables)
    return cells;
}

std::size_t shared_cell(Cells& cells) { return ThreadCell::own_cells + cells.sharing++ % ThreadCell::own_cells; }

}  // namespace

// A thread's right to its cell. It exists from the thread's first use of a cell to the end of the thread.
class ThreadCell::Lease {
public:
    Lease() {
        auto& cells = all_thread_cells();
        const std::scoped_lock lock(cells.mutex);
        while (leased_ < own_cells && cells.leased.test(leased_)) ++leased_;
        if (leased_ < own_cells) cells.leased.set(leased_);
        current_ = leased_ < own_cells ? leased_ : shared_cell(cells);
    }
    // The thread may still destroy references after this object is destroyed. The thread then uses a shared cell.
    ~Lease() {
        auto& cells = all_thread_cells();
        const std::scoped_lock lock(cells.mutex);
        if (leased_ < own_cells) cells.leased.reset(leased_);
        current_ = shared_cell(cells);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

private:
    std::size_t leased_ = 0;
};

void ThreadCell::assign() { static const thread_local Lease lease; }

}  // namespace smemtune
