#include "runtime/predict/leased_scratch.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <utility>

namespace smemtune {
namespace {

TEST(LeasedScratch, IsUsedAgainByTheNextObjectButNeverByTwoAtOnce) {
    std::optional<LeasedScratch> first(std::in_place);
    auto* const memory = &**first;
    LeasedScratch second;
    EXPECT_NE(&*second, memory);
    LeasedScratch moved = std::move(*first);
    EXPECT_EQ(&*moved, memory);
    first.reset();
    EXPECT_NE(&*LeasedScratch(), memory) << "the moved object still has it";
    { const auto ended = std::move(moved); }
    LeasedScratch third;
    EXPECT_EQ(&*third, memory);
}

TEST(LeasedScratch, BelongsToTheThreadThatLeftIt) {
    auto* const memory = &*LeasedScratch();
    std::thread([&] { EXPECT_NE(&*LeasedScratch(), memory); }).join();
    EXPECT_EQ(&*LeasedScratch(), memory);
}

}  // namespace
}  // namespace smemtune
