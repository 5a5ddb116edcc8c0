// A worker's prepared problems on its device: as many as the memory has room for.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/trial/testbed.h"
#include "tuner/worker/messages.h"

namespace smemtune {

/// The prepared problems, from most to least recently used. `backend` must outlive the cache.
class TestbedCache {
public:
    TestbedCache(Backend& backend, unsigned seed) : backend_(backend), seed_(seed) {}

    /// Makes the problem current, and prepares it if necessary. If memory is short, other problems are released,
    /// evictable ones first. If `only_if_room` is true, the current problem stays current, and only evictable
    /// problems are released. If this does not free enough memory, nothing is prepared. Throws OutOfMemory.
    void prepare(const PrepareRequest& request);

    /// The testbed of the current problem. Precondition: prepare() was called.
    [[nodiscard]] Testbed& current() { return *entries_.front().testbed; }
    /// Releases all problems but the current one.
    void evict_all_but_current();
    /// The prepared problems, the current one first.
    [[nodiscard]] std::vector<Problem> problems() const;

private:
    struct Entry {
        Problem problem;
        std::unique_ptr<Testbed> testbed;
        bool evictable = false;
    };

    void mark_evictable(const std::vector<Problem>& problems);
    void add(const PrepareRequest& request);
    bool evict_an_evictable();
    [[nodiscard]] bool fits(double bytes);
    [[nodiscard]] const Operation& operation_of(const SourceTree& files);

    Backend& backend_;
    unsigned seed_;
    std::list<Entry> entries_;  // the prepared problems; the current problem is first
    // The operation of the latest request, and the files that describe it. Parsing them takes 6 ms.
    SourceTree files_;
    std::optional<Operation> operation_;
};

}  // namespace smemtune
