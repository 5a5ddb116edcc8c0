#include "runtime/predict/leased_scratch.h"

#include <utility>
#include <vector>

namespace smemtune {

namespace {

constexpr std::size_t most_left = 4;  // enough for a fetch that ranks the members of four databases

std::vector<std::unique_ptr<BoundLaunch::Scratch>>& left() {
    thread_local std::vector<std::unique_ptr<BoundLaunch::Scratch>> of_this_thread;
    return of_this_thread;
}

}  // namespace

LeasedScratch::LeasedScratch() {
    if (left().empty()) {
        scratch_ = std::make_unique<BoundLaunch::Scratch>();
    } else {
        scratch_ = std::move(left().back());
        left().pop_back();
    }
}

LeasedScratch::~LeasedScratch() {
    if (scratch_ != nullptr && left().size() < most_left) left().push_back(std::move(scratch_));
}

}  // namespace smemtune
