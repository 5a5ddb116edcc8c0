#include "tuner/tuning/event_count.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace smemtune {
namespace {

TEST(EventCount, AnEventBetweenLookingAndWaitingIsNotLost) {
    EventCount events;
    const auto seen = events.count();
    events.notify();
    events.wait(seen);  // returns at once, because there was an event after `seen`
    EXPECT_NE(events.count(), seen);
}

TEST(EventCount, OneEventWakesAllWhoWait) {
    EventCount events;
    const auto seen = events.count();
    std::atomic<int> woken = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            events.wait(seen);
            ++woken;
        });
    }
    events.notify();
    threads.clear();  // joins the threads
    EXPECT_EQ(woken, 4);
}

}  // namespace
}  // namespace smemtune
