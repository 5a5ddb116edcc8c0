#include "util/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace smemtune {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
    for (const std::size_t threads : {0U, 1U, 3U, 200U}) {
        std::vector<std::atomic<int>> calls(100);
        parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
        for (const auto& each : calls) EXPECT_EQ(each, 1) << threads << " threads";
    }
}

TEST(ParallelFor, RunsAsManyAtOnceAsItHasThreads) {
    std::latch all_there(3);
    parallel_for(3, 3, [&](std::size_t) { all_there.arrive_and_wait(); });  // would hang with fewer than 3 threads
}

// Counts a latch down when the thread that owns this object ends.
struct AtExit {
    std::latch* gone = nullptr;
    ~AtExit() {
        if (gone != nullptr) gone->count_down();
    }
};

TEST(ParallelFor, RethrowsTheFirstFailureAndBeginsNothingAfterIt) {
    std::latch both_begun(2);
    std::latch first_is_gone(1);
    std::atomic<int> calls = 0;
    const auto work = [&](std::size_t i) {
        ++calls;
        if (i < 2) both_begun.arrive_and_wait();
        if (i == 0) {
            static thread_local AtExit exit;
            exit.gone = &first_is_gone;
        }
        if (i == 1) first_is_gone.wait();  // call 1 fails after the thread of call 0 has ended
        throw std::runtime_error(std::to_string(i));
    };
    try {
        parallel_for(100, 2, work);
        ADD_FAILURE() << "must throw";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "0");
    }
    EXPECT_LE(calls, 3) << "the thread that did not fail first may begin one more";
}

TEST(ParallelFor, OfNothingCallsNothing) {
    parallel_for(0, 3, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, OneThreadCallsInOrder) {
    std::vector<std::size_t> calls;
    parallel_for(5, 1, [&](std::size_t i) { calls.push_back(i); });
    EXPECT_EQ(calls, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace smemtune
