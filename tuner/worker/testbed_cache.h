// The problems that a worker has prepared on its device: as many as leave half of the free memory alone.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "tuner/trial/testbed.h"
#include "tuner/worker/messages.h"

namespace smemtune {

/// Least recently used last. `backend` must outlive it.
class TestbedCache {
public:
    TestbedCache(Backend& backend, unsigned seed) : backend_(backend), seed_(seed) {}

    /// Makes the problem current, and prepares it unless it is prepared already: other problems give up their memory
    /// where it needs it, evictable ones first. With `only_if_room` the current problem remains, only evictable ones
    /// give up their memory, and without enough nothing is prepared. Throws OutOfMemory.
    void prepare(const PrepareRequest& request);

    /// The testbed of the current problem. Precondition: prepare() was called.
    [[nodiscard]] Testbed& current() { return *entries_.front().testbed; }
    /// False when no other problem was prepared.
    bool evict_all_but_current();
    /// The current one first.
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

    Backend& backend_;
    unsigned seed_;
    std::list<Entry> entries_;  // the current problem first
};

}  // namespace smemtune
