#include "tuner/worker/watchdog.h"

#include <gtest/gtest.h>

#include <future>

namespace smemtune {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, NamesTheStepThatTookTooLong) {
    std::promise<std::string> promise;
    Watchdog watchdog(1s, [&](const std::string& message) { promise.set_value(message); });
    watchdog.begin("the reference of scale");
    EXPECT_EQ(promise.get_future().get(),
              "the reference of scale took longer than 1 s; make sure that this code ends, choose a smaller size, or "
              "give a longer --deadline");
}

TEST(Watchdog, EachStepHasTheWholeTimeAndWhatHasNoNameIsNotLimited) {
    std::atomic<int> messages = 0;
    {
        Watchdog watchdog(3s, [&](const std::string&) { ++messages; });
        for (int i = 0; i < 4; ++i) {
            watchdog.begin("step");
            std::this_thread::sleep_for(1s);
        }
    }
    {
        Watchdog watchdog(1s, [&](const std::string&) { ++messages; });
        watchdog.begin("step");
        watchdog.begin("");
        std::this_thread::sleep_for(1500ms);
    }
    EXPECT_EQ(messages, 0);
}

TEST(Watchdog, ReportsAStepOnce) {
    std::atomic<int> messages = 0;
    {
        Watchdog watchdog(10ms, [&](const std::string&) { ++messages; });
        watchdog.begin("step");
        while (messages == 0) std::this_thread::yield();
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_EQ(messages, 1);
}

}  // namespace
}  // namespace smemtune
