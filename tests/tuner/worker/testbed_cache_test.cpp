#include "tuner/worker/testbed_cache.h"

#include <gmock/gmock.h>

#include "tests/tuner/scripted.h"
#include "tests/tuner/support.h"
#include "tuner/trial/operands.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;

// The host device. It reports as much free memory as the test sets.
class Limited : public Scripted {
public:
    std::size_t free = 0;
    [[nodiscard]] std::size_t free_bytes() override { return free; }
};

class TestbedCacheTest : public ::testing::Test {
protected:
    static PrepareRequest request(const Problem& problem, bool only_if_room) {
        static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
        static const auto binaries = compile_testbed(*compiler, template_of("gemm"), gemm(24, 24, 24));
        return {
            .problem = problem, .files = template_of("gemm").files, .binaries = binaries, .only_if_room = only_if_room};
    }
    [[nodiscard]] std::size_t bytes_of(const Problem& problem) const {
        return static_cast<std::size_t>(testbed_bytes(template_of("gemm").operation, problem, backend.device()));
    }

    Limited backend;
    TestbedCache cache{backend, 1};
    const Problem present = gemm(24, 24, 24);
    const Problem next = gemm(16, 24, 8);
};

TEST_F(TestbedCacheTest, AProblemIsPreparedAheadIfItNeedsLessThanHalfOfTheFreeMemory) {
    cache.prepare(request(present, false));
    backend.free = 2 * bytes_of(next);
    cache.prepare(request(next, true));
    EXPECT_THAT(cache.problems(), ElementsAre(present));
    backend.free += 2;
    cache.prepare(request(next, true));
    EXPECT_THAT(cache.problems(), ElementsAre(present, next));
}

TEST_F(TestbedCacheTest, EachRequestIsForTheOperationOfItsOwnFiles) {
    backend.free = std::size_t{1} << 40;
    cache.prepare(request(present, false));
    const Problem other{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 8}, {"N", 8}}};
    const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    const auto& kernel = template_of("transpose");
    EXPECT_NO_THROW(cache.prepare(
        {.problem = other, .files = kernel.files, .binaries = compile_testbed(*compiler, kernel, other)}));
    EXPECT_THAT(cache.problems(), ElementsAre(other, present));
    EXPECT_NO_THROW(cache.prepare(request(next, false)));
}

TEST_F(TestbedCacheTest, TheCurrentProblemIsPreparedThoughMemoryIsShortAndTheOthersGo) {
    backend.free = 4 * bytes_of(present);
    cache.prepare(request(present, false));
    cache.prepare(request(next, true));
    ASSERT_THAT(cache.problems(), ElementsAre(present, next));
    backend.free = 0;
    const auto other = gemm(8, 8, 8);
    cache.prepare(request(other, false));
    EXPECT_THAT(cache.problems(), ElementsAre(other));
}

TEST_F(TestbedCacheTest, AProblemThatIsPreparedAheadAgainIsStillNotTheCurrentOne) {
    backend.free = 100 * bytes_of(present);
    cache.prepare(request(present, false));
    for (int time = 0; time < 2; ++time) cache.prepare(request(next, true));
    EXPECT_THAT(cache.problems(), ElementsAre(present, next));
}

TEST_F(TestbedCacheTest, AProblemIsEvictableFromTheRequestThatSaysSoUntilItIsSelectedAgain) {
    const auto old = gemm(8, 8, 8);
    for (const bool selected_again : {false, true}) {
        backend.free = 100 * bytes_of(present);
        cache.prepare(request(old, false));
        auto marking = request(present, false);
        marking.evictable = {old};
        cache.prepare(marking);
        if (selected_again) {
            for (const auto& problem : {old, present}) cache.prepare(request(problem, false));
        }
        backend.free = 0;
        cache.prepare(request(next, true));
        EXPECT_EQ(cache.problems(), selected_again ? (std::vector{present, old}) : std::vector{present});
    }
}

TEST_F(TestbedCacheTest, EvictableProblemsGoFirst) {
    backend.free = 100 * bytes_of(present);
    const auto old = gemm(8, 8, 8);
    for (const auto& problem : {old, present}) cache.prepare(request(problem, false));
    ASSERT_THAT(cache.problems(), ElementsAre(present, old));
    backend.free = 0;
    auto ahead = request(next, true);
    ahead.evictable = {old};
    cache.prepare(ahead);
    EXPECT_THAT(cache.problems(), ElementsAre(present)) << "nor is there room without it";
}

}  // namespace
}  // namespace smemtune
