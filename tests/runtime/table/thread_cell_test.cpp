#include "runtime/table/thread_cell.h"

#include <gmock/gmock.h>

#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace smemtune {
namespace {

// The cells of `count` threads that live at the same time.
std::vector<ThreadCell> cells_of(std::ptrdiff_t count) {
    std::vector<ThreadCell> cells;
    std::mutex mutex;
    std::barrier all_live(count);
    std::vector<std::jthread> threads;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            const auto cell = ThreadCell::current();
            {
                const std::scoped_lock lock(mutex);
                cells.push_back(cell);
            }
            all_live.arrive_and_wait();
        });
    }
    threads.clear();
    return cells;
}

TEST(ThreadCell, IsTheSameAtEachCall) { EXPECT_EQ(ThreadCell::current().index, ThreadCell::current().index); }

TEST(ThreadCell, NoTwoLivingThreadsHaveTheSameOwnCell) {
    std::set<std::size_t> own;
    std::size_t sharing = 0;
    for (const auto cell : cells_of(ThreadCell::own_cells + 10)) {
        ASSERT_LT(cell.index, ThreadCell::all_cells);
        if (cell.is_own()) {
            EXPECT_TRUE(own.insert(cell.index).second) << cell.index;
        } else {
            ++sharing;
        }
    }
    EXPECT_GE(sharing, 10U);
}

TEST(ThreadCell, IsGivenToAnotherThreadAfterTheEndOfItsOwn) {
    for (std::size_t i = 0; i < 3 * ThreadCell::own_cells; ++i) EXPECT_TRUE(cells_of(1).front().is_own());
}

}  // namespace
}  // namespace smemtune
