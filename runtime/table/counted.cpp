#include "runtime/table/counted.h"

#include <memory>
#include <new>

namespace smemtune {

Counted::~Counted() {
    for (auto& each : counters_) const std::unique_ptr<const Counter> last(each.load());
}

// Only the thread of the cell makes its counter; an earlier thread of the same cell may have left one. Without memory
// the thread uses the shared counter.
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
