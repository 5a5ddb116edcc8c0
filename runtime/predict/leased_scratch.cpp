#include "runtime/predict/leased_scratch.h"

#include <utility>
#include <vector>

namespace smemtune {

namespace {

constexpr std::size_t most_left = 4;  // enough for a fetch that ranks the members of four databases

// Whether the thread's object of class Left has been destroyed. Destructors of other thread-local or static objects may
// fetch kernels after that. The flag has no destructor, so it can still be read then.
bool& has_ended() {
    constinit thread_local bool ended = false;
    return ended;
}

// The memory that destroyed LeasedScratch objects of this thread have left.
struct Left {
    std::vector<std::unique_ptr<Predictor::Scratch>> scratches;

    ~Left() { has_ended() = true; }
};

std::vector<std::unique_ptr<Predictor::Scratch>>* left() {
    if (has_ended()) return nullptr;
    thread_local Left of_this_thread;
    return &of_this_thread.scratches;
}

}  // namespace

LeasedScratch::LeasedScratch() {
    auto* const scratches = left();
    if (scratches == nullptr || scratches->empty()) {
        scratch_ = std::make_unique<Predictor::Scratch>();
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
