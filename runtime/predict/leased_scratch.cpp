#include "runtime/predict/leased_scratch.h"

#include <utility>
#include <vector>

namespace smemtune {

namespace {

constexpr std::size_t most_left = 4;  // enough for a fetch that ranks the members of four databases

// What this thread's objects have left. Destructors of other thread-local or static objects may fetch kernels after
// this object is destroyed, so a trivial flag tells whether it still exists.
struct Left {
    std::vector<std::unique_ptr<BoundLaunch::Scratch>> scratches;

    ~Left() { ended = true; }
    static constinit thread_local bool ended;
};
constinit thread_local bool Left::ended = false;

std::vector<std::unique_ptr<BoundLaunch::Scratch>>* left() {
    if (Left::ended) return nullptr;
    thread_local Left of_this_thread;
    return &of_this_thread.scratches;
}

}  // namespace

LeasedScratch::LeasedScratch() {
    auto* const scratches = left();
    if (scratches == nullptr || scratches->empty()) {
        scratch_ = std::make_unique<BoundLaunch::Scratch>();
    } else {
        scratch_ = std::move(scratches->back());
        scratches->pop_back();
    }
}

LeasedScratch::~LeasedScratch() {
    auto* const scratches = left();
    if (scratch_ != nullptr && scratches != nullptr && scratches->size() < most_left) {
        scratches->push_back(std::move(scratch_));
    }
}

}  // namespace smemtune
