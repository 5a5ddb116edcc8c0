#include "runtime/table/counted.h"

#include <memory>
#include <new>

namespace smemtune {

Counted::~Counted() {
    for (auto& each : counters_) const std::unique_ptr<const Counter> last(each.load());
}

// Makes the counter of a cell. Only the thread that has the cell calls this function, and only if the cell has no
// counter of an earlier thread. Returns false if there is no memory; the thread then uses the shared counter.
bool Counted::make_counter(ThreadCell cell) {
    counters_.at(cell.index) = new (std::nothrow) Counter;  // NOLINT(*-owning-memory): the array owns it
    return counters_.at(cell.index) != nullptr;
}

void Counted::give_up() {
    auto more = -owned;
    for (const auto& each : counters_) {
        if (const auto* counter = each.load()) more += counter->references.load();
    }
    if (shared_.fetch_add(more, std::memory_order_acq_rel) + more == 0) delete this;
}

}  // namespace smemtune
