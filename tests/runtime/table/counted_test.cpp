#include "runtime/table/counted.h"

#include <gmock/gmock.h>

#include <barrier>
#include <thread>
#include <vector>

namespace smemtune {
namespace {

struct Held : Counted {
    explicit Held(std::atomic<int>& its_alive) : alive(its_alive) { ++alive; }
    ~Held() override { --alive; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    std::atomic<int>& alive;
};

// Returns a new reference, as an owner such as a table does for a thread that looks up the object.
Reference<Held> found(Held* held) {
    const auto cell = ThreadCell::current();
    const ReaderCount::Reading reading(ReaderCount::of_process(), cell);
    held->add_found(cell);
    return {held, held};
}

void give_up(Held* held) {
    held->close();
    ReaderCount::Pending pending;
    while (!pending.is_over(ReaderCount::of_process())) std::this_thread::yield();
    held->give_up();
}

class CountedTest : public ::testing::Test {
protected:
    std::atomic<int> alive = 0;
    Held* held = new Held(alive);
};

TEST_F(CountedTest, WithoutReferencesItEndsWithItsOwner) {
    { const auto reference = found(held); }
    EXPECT_EQ(alive, 1);
    give_up(held);
    EXPECT_EQ(alive, 0);
}

TEST_F(CountedTest, LivesAsLongAsTheLastReferenceOfAnyThread) {
    auto here = found(held);
    Reference<Held> there;
    Reference<Held> copied;
    std::jthread([&] { there = found(held); }).join();
    std::jthread([&] { copied = here; }).join();  // gets the cell and the counter of the first thread, which has ended
    give_up(held);
    here = {};
    there = {};
    EXPECT_EQ(alive, 1);
    std::jthread([&] { copied = {}; }).join();
    EXPECT_EQ(alive, 0);
}

TEST_F(CountedTest, ReferencesMayEndInOtherThreadsThanTheyBegan) {
    std::vector<Reference<Held>> references(10);
    for (auto& each : references) each = found(held);
    std::jthread([&] {
        const auto own = found(held);  // gives this thread a counter, which the next line makes negative
        references.clear();
    }).join();
    EXPECT_EQ(alive, 1);
    const auto last = found(held);
    give_up(held);
    EXPECT_EQ(alive, 1);
}

TEST_F(CountedTest, CanBeFoundUntilItIsGivenUp) {
    held->close();
    auto late = found(held);  // like a reader that looked up the object before close()
    ReaderCount::Pending pending;
    ASSERT_TRUE(pending.is_over(ReaderCount::of_process()));
    held->give_up();
    EXPECT_EQ(alive, 1);
    late = {};
    EXPECT_EQ(alive, 0);
}

// There are more threads than ThreadCell::own_cells, so some threads use the shared counter.
TEST_F(CountedTest, CountsAllReferencesWhileItsOwnerGivesItUp) {
    for (int round = 0; round < 20; ++round) {
        auto* const object = round == 0 ? held : new Held(alive);
        std::barrier begin(static_cast<std::ptrdiff_t>(ThreadCell::own_cells) + 5);
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < ThreadCell::own_cells + 5; ++i) {
            threads.emplace_back([&] {
                auto first = found(object);
                begin.arrive_and_wait();
                for (int turn = 0; turn < 200; ++turn) {
                    auto copy = first;
                    first = std::move(copy);
                }
            });
        }
        begin.arrive_and_wait();
        give_up(object);
        threads.clear();
        ASSERT_EQ(alive, 0) << round;
    }
}

}  // namespace
}  // namespace smemtune
