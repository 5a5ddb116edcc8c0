#include "runtime/fetch/single_flight.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/fetch/program_cache.h"

namespace smemtune {
namespace {

TEST(SingleFlight, WorkOfOneKeyNeverWaitsForThatOfAnother) {
    SingleFlight<std::string, int> flights;
    const auto outer = flights.run("a", [&] {
        int inner = 0;
        std::thread([&] { inner = flights.run("b", [] { return 2; }); }).join();
        return inner + 1;
    });
    EXPECT_EQ(outer, 3);
}

TEST(SingleFlight, ThreadsThatAskMeanwhileShareOneCall) {
    SingleFlight<std::string, int> flights;
    std::atomic<int> calls = 0;
    std::latch begun(1);
    std::latch all_asked(8);
    std::vector<std::jthread> threads;
    std::atomic<int> sum = 0;
    const auto work = [&] {
        begun.count_down();
        all_asked.wait();
        return ++calls;
    };
    threads.emplace_back([&] { sum += flights.run("a", work); });
    begun.wait();
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            const auto joined = flights.join("a");
            all_asked.count_down();
            ASSERT_TRUE(joined.valid());
            sum += joined.get();
        });
    }
    threads.clear();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(sum, 9);
}

TEST(SingleFlight, AFailureIsThrownAndNotRemembered) {
    SingleFlight<std::string, int> flights;
    EXPECT_THROW(flights.run("a", []() -> int { throw std::invalid_argument("no"); }), std::invalid_argument);
    EXPECT_EQ(flights.run("a", [] { return 1; }), 1);
    EXPECT_EQ(flights.run("a", [] { return 2; }), 2) << "nor is a success: its caller remembers it";
}

// These exceptions have no content that the waiting thread could read. Reason: ThreadSanitizer does not see how
// libstdc++ counts the references to an exception, so it would report a race if two threads used the content of one
// exception.
struct WorkFailed {};
struct CopyFailed {};
struct WorkDoneAgain {};

// A value whose copies throw if `fails` is true.
struct Copied {
    bool fails = false;
    explicit Copied(bool its_fails) : fails(its_fails) {}
    Copied(const Copied& from) : fails(from.fails) {
        if (fails) throw CopyFailed();
    }
    Copied(Copied&&) noexcept = default;
};

// A key that tells when it is compared. A SingleFlight compares keys only while it holds its lock.
struct Watched {
    std::atomic<int>* comparisons;
    bool operator<(const Watched& other) const {
        ++*comparisons;
        return comparisons < other.comparisons;
    }
};

// Calls run() in a second thread while the work of the first call runs, and returns what the second call throws.
template <class Value>
std::string thrown_to_waiter(const std::function<Value()>& work) {
    SingleFlight<Watched, Value> flights;
    std::atomic<int> comparisons = 0;
    std::string thrown;
    std::jthread second;
    const auto work_while_waited_for = [&] {
        second = std::jthread([&] {
            try {
                (void)flights.run({&comparisons}, []() -> Value { throw WorkDoneAgain(); });
            } catch (const WorkFailed&) {
                thrown = "work";
            } catch (const CopyFailed&) {
                thrown = "copy";
            } catch (...) {
                thrown = "another exception";
            }
        });
        while (comparisons == 0) std::this_thread::yield();  // until the second thread has found the running work
        return work();
    };
    try {
        (void)flights.run({&comparisons}, work_while_waited_for);
    } catch (const WorkFailed&) {  // the test is about what the other thread gets
    }
    second.join();
    return thrown;
}

TEST(SingleFlight, AWaiterGetsTheFailureOfTheWork) {
    EXPECT_EQ(thrown_to_waiter<int>([]() -> int { throw WorkFailed(); }), "work");
    EXPECT_EQ(thrown_to_waiter<int>([] { return 1; }), "");
}

TEST(SingleFlight, AWaiterGetsTheFailureOfACopyOfTheResult) {
    EXPECT_EQ(thrown_to_waiter<Copied>([] { return Copied(true); }), "copy");
    EXPECT_EQ(thrown_to_waiter<Copied>([] { return Copied(false); }), "");
}

class Nothing : public LoadedKernel {
public:
    void launch(StreamHandle, const Launch&, void* const*) const override {}
};

TEST(ProgramCache, LoadsAProgramOnceAndAFailureAnew) {
    ProgramCache cache;
    int made = 0;
    const auto make = [&] {
        return ++made == 1 ? ProgramCache::Loaded{nullptr, "busy"}
                           : ProgramCache::Loaded{std::make_shared<Nothing>(), {}};
    };
    EXPECT_EQ(cache.get("a", make).why_not, "busy");
    const auto loaded = cache.get("a", make).kernel;
    EXPECT_NE(loaded, nullptr);
    EXPECT_EQ(cache.get("a", make).kernel, loaded);
    EXPECT_NE(cache.get("b", make).kernel, loaded);
    EXPECT_EQ(made, 3);
}

TEST(ProgramCache, WithTooManyUnloadsThoseThatNoKernelUses) {
    ProgramCache cache(4);
    const auto make = [] { return ProgramCache::Loaded{std::make_shared<Nothing>(), {}}; };
    const auto used = cache.get("used", make).kernel;
    const std::weak_ptr<const LoadedKernel> unused = cache.get("unused", make).kernel;
    for (int i = 0; i < 2; ++i) (void)cache.get(std::to_string(i), make);
    EXPECT_FALSE(unused.expired()) << "as long as there is room";
    (void)cache.get("one too many", make);
    EXPECT_TRUE(unused.expired());
    EXPECT_EQ(cache.get("used", make).kernel, used);
    EXPECT_EQ(cache.size(), 2U);
}

}  // namespace
}  // namespace smemtune
