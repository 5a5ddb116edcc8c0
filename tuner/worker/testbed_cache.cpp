#include "tuner/worker/testbed_cache.h"

#include <algorithm>

#include "templates/manifest/catalog.h"
#include "tuner/trial/operands.h"

namespace smemtune {

namespace {

constexpr double most_of_free = 0.5;  // a testbed may take this share of free memory; other processes may use the rest

}  // namespace

void TestbedCache::prepare(const PrepareRequest& request) {
    mark_evictable(request.evictable);
    const auto found = std::ranges::find(entries_, request.problem, &Entry::problem);
    if (found != entries_.end()) {
        if (request.only_if_room) return;
        found->evictable = false;
        entries_.splice(entries_.begin(), entries_, found);
        return;
    }
    try {
        add(request);
    } catch (const OutOfMemory&) {
        // Another process may have taken the memory after fits() found it free.
        if (request.only_if_room) return;
        if (entries_.empty()) throw;
        entries_.clear();
        add(request);
    }
}

void TestbedCache::add(const PrepareRequest& request) {
    const auto& operation = operation_of(request.files);
    const auto bytes = testbed_bytes(operation, request.problem, backend_.device());
    while (!fits(bytes) && evict_an_evictable()) {
    }
    while (!request.only_if_room && !entries_.empty() && !fits(bytes)) entries_.pop_back();
    if (request.only_if_room && !fits(bytes)) return;
    auto testbed = std::make_unique<Testbed>(backend_, operation, request.problem, request.binaries, seed_);
    entries_.insert(request.only_if_room ? entries_.end() : entries_.begin(), {request.problem, std::move(testbed)});
}

const Operation& TestbedCache::operation_of(const SourceTree& files) {
    if (!operation_ || files != files_) {
        auto operation = load_template(files).operation;
        files_ = files;
        operation_ = std::move(operation);
    }
    return *operation_;
}

void TestbedCache::evict_all_but_current() {
    if (entries_.size() > 1) entries_.resize(1);
}

std::vector<Problem> TestbedCache::problems() const {
    std::vector<Problem> problems;
    for (const auto& entry : entries_) problems.push_back(entry.problem);
    return problems;
}

void TestbedCache::mark_evictable(const std::vector<Problem>& problems) {
    for (auto& entry : entries_) entry.evictable = entry.evictable || std::ranges::count(problems, entry.problem) > 0;
}

bool TestbedCache::evict_an_evictable() {
    const auto last =
        std::find_if(entries_.rbegin(), entries_.rend(), [](const Entry& entry) { return entry.evictable; });
    if (last == entries_.rend()) return false;
    entries_.erase(std::next(last).base());
    return true;
}

bool TestbedCache::fits(double bytes) { return bytes < most_of_free * static_cast<double>(backend_.free_bytes()); }

}  // namespace smemtune
