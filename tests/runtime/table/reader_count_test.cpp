#include "runtime/table/reader_count.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>
#include <vector>

namespace smemtune {
namespace {

TEST(ReaderCount, AWriterWaitsForAReaderThatWasThereAndForNoLaterOne) {
    for (const std::size_t index : {std::size_t{3}, ThreadCell::own_cells + 3}) {
        const ThreadCell cell{index};
        ReaderCount readers;
        ReaderCount::Pending pending;
        {
            const ReaderCount::Reading before(readers, cell);
            { const ReaderCount::Reading nested(readers, cell); }
            EXPECT_FALSE(pending.is_over(readers));
            EXPECT_FALSE(pending.is_over(readers));
        }
        EXPECT_TRUE(pending.is_over(readers));
        const ReaderCount::Reading after(readers, cell);
        EXPECT_TRUE(pending.is_over(readers));
    }
}

// Several threads change the count of a shared cell at the same time. No change may be lost.
TEST(ReaderCount, CountsAllThreadsOfASharedCell) {
    ReaderCount readers;
    const ThreadCell cell{ThreadCell::own_cells};
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) const ReaderCount::Reading reading(readers, cell);
        });
    }
    threads.clear();
    ReaderCount::Pending pending;
    EXPECT_TRUE(pending.is_over(readers));
}

// A reader stores its count and then loads the data. A writer stores new data and then loads the count. Reader and
// writer each need a fence between the two steps. Without a fence, the processor could delay the store until after the
// load. Then the reader could see the old data although the writer sees no reader.
TEST(ReaderCount, NoWriterMissesAReaderThatSawTheReplacedData) {
    AsymmetricFence::prepare();
    ReaderCount readers;
    std::atomic<int> published = 1;
    std::atomic<int> replaced = 0;  // the writer found that no reader uses this version or an earlier one
    std::atomic<int> missed = 0;
    std::atomic<int> reads = 0;
    constexpr int most_reads = 10'000'000;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(2);  // ThreadSanitizer is slow
    std::atomic<bool> ends = false;
    std::jthread reader([&] {
        const ThreadCell cell{0};
        while (!ends) {
            reads.store(reads + 1, std::memory_order_relaxed);
            const ReaderCount::Reading reading(readers, cell);
            const auto seen = published.load(std::memory_order_relaxed);
            for (int i = 0; i < 20; ++i) {
                if (replaced.load(std::memory_order_relaxed) >= seen) ++missed;
            }
        }
    });
    for (int version = 2; reads < most_reads && std::chrono::steady_clock::now() < latest; ++version) {
        published.store(version, std::memory_order_relaxed);
        ReaderCount::Pending pending;
        while (!pending.is_over(readers)) {
        }
        replaced = version - 1;
    }
    ends = true;
    reader.join();
    EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace smemtune
