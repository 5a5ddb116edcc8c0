#include "runtime/table/problem_key.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "runtime/table/shape_table.h"

namespace smemtune {
namespace {

bool are_same(const Problem& a, const Problem& b) {
    const bool same = ProblemKey(a, "") == ProblemKey(b, "");
    if (same) {
        EXPECT_EQ(ProblemKey(a, "").hash(), ProblemKey(b, "").hash());
    }
    return same;
}

Problem named(const std::string& name) { return {name, "f32", "nn", {{"M", 1}}}; }

TEST(ProblemKey, IsTheSameForEqualProblemsAlone) {
    EXPECT_TRUE(are_same(gemm(1, 2, 3), gemm(1, 2, 3)));
    EXPECT_FALSE(are_same(gemm(1, 2, 3), gemm(1, 2, 4)));
    EXPECT_FALSE(are_same(gemm(1, 2, 3), gemm(1, 3, 2)));
    EXPECT_FALSE(are_same(gemm(1, 2, 3), gemm(1, 2, 3, "f16")));
    EXPECT_FALSE(are_same(gemm(1, 2, 3), gemm(1, 2, 3, "f32", "nt")));
    EXPECT_FALSE(are_same(gemm(1, 2, 3), batched_gemm(1, 1, 2, 3)));
    EXPECT_FALSE(are_same({"gemm", "f32", "nn", {{"M", 1}, {"N", 2}}}, {"gemm", "f32", "nn", {{"N", 1}, {"M", 2}}}));
    EXPECT_FALSE(are_same({"gemm", "f32", "nn", {{"M", 1}}}, {"gemm", "f32", "nn", {{"M", 1}, {"N", 1}}}));
    EXPECT_FALSE(are_same({"gemm", "f", "32", {}}, {"gemm", "f3", "2", {}}));
    EXPECT_FALSE(ProblemKey(gemm(1, 2, 3), "") == ProblemKey(gemm(1, 2, 3), "tiled"));
    EXPECT_FALSE(ProblemKey({"gemm", "f32", "nn", {}}, "") == ProblemKey({"gemm", "f32", "", {}}, "nn"));
}

TEST(ProblemKey, TellsNamesApartByTheirSizeAndByEachOfTheirLetters) {
    for (std::size_t size = 1; size <= 20; ++size) {
        const std::string name(size, 'a');
        EXPECT_TRUE(are_same(named(name), named(name)));
        EXPECT_FALSE(are_same(named(name), named(name + "a")));
        EXPECT_FALSE(are_same(named(name), named(name + std::string(1, 0))));
        for (std::size_t at = 0; at < size; ++at) {
            auto other = name;
            other[at] = 'b';
            EXPECT_FALSE(are_same(named(name), named(other))) << other;
            EXPECT_NE(ProblemKey(named(name), "").hash(), ProblemKey(named(other), "").hash()) << other;
        }
    }
}

TEST(ProblemKey, SpreadsSizesOverTheLowBitsOfItsHash) {
    constexpr int count = 4096;
    std::set<std::uint64_t> places;
    for (int i = 0; i < count; ++i) {
        places.insert(ProblemKey(gemm(64 * (i % 16), 64 * (i / 16 % 16), 64 * (i / 256)), "").hash() % (4 * count));
    }
    EXPECT_GT(places.size(), count * 4 / 5) << "4096 random draws from 16384 places hit 3624 of them";
}

// Two problems whose names are so long that a key contains only their beginning. The names differ only in the rest.
TEST(ProblemKey, ThatIsIncompleteIsNotTakenForTheProblem) {
    const std::string name(400, 'a');
    const auto a = named(name + "a");
    const auto b = named(name + "b");
    EXPECT_FALSE(ProblemKey(a, "").is_complete());
    EXPECT_TRUE(ProblemKey(gemm(1, 2, 3), "warp_tiled").is_complete());
    ShapeTable<int> table(4);
    table.insert(a, "", std::make_shared<const int>(1));
    table.insert(b, "", std::make_shared<const int>(2));
    EXPECT_EQ(*table.find(a, ""), 1);
    EXPECT_EQ(*table.find(b, ""), 2);
}

}  // namespace
}  // namespace smemtune
