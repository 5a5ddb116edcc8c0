#include "runtime/table/shape_table.h"

#include <gmock/gmock.h>

#include <thread>

namespace smemtune {
namespace {

// A value that counts its living instances and knows its problem's M.
class Living {
public:
    Living(std::atomic<int>& alive, std::int64_t m) : alive_(alive), m_(m) { ++alive_; }
    ~Living() { --alive_; }
    Living(const Living&) = delete;
    Living& operator=(const Living&) = delete;
    [[nodiscard]] std::int64_t m() const { return m_; }

private:
    std::atomic<int>& alive_;
    std::int64_t m_;
};

std::shared_ptr<const int> shared(int value) { return std::make_shared<const int>(value); }
std::optional<int> value_of(const Reference<int>& found) { return found ? std::optional(*found) : std::nullopt; }

TEST(ShapeTable, FindsWhatWasInsertedUnderTheSameProblemAndTemplateAlone) {
    ShapeTable<int> table(100);
    table.insert(gemm(1, 2, 3), "", shared(1));
    table.insert(gemm(1, 2, 3), "tiled", shared(2));
    table.insert(gemm(3, 2, 1), "", shared(3));
    table.insert(gemm(1, 2, 3, "f32", "nt"), "", shared(4));
    table.insert({"gemm", "f32", "nn", {{"A", 1}, {"B", 2}, {"C", 3}}}, "", shared(5));
    EXPECT_EQ(value_of(table.find(gemm(1, 2, 3), "")), 1);
    EXPECT_EQ(value_of(table.find(gemm(1, 2, 3), "tiled")), 2);
    EXPECT_EQ(value_of(table.find(gemm(3, 2, 1), "")), 3);
    EXPECT_EQ(value_of(table.find(gemm(1, 2, 3, "f32", "nt"), "")), 4);
    EXPECT_EQ(value_of(table.find({"gemm", "f32", "nn", {{"A", 1}, {"B", 2}, {"C", 3}}}, "")), 5) << "other names";
    EXPECT_FALSE(table.find(gemm(1, 3, 2), ""));
    EXPECT_FALSE(table.find(gemm(1, 2, 3), "naive"));
    EXPECT_EQ(value_of(table.insert(gemm(1, 2, 3), "", shared(6))), 1) << "the first stays";
    EXPECT_EQ(value_of(table.find(gemm(1, 2, 3), "")), 1);
    EXPECT_EQ(value_of(table.insert(gemm(1, 2, 7), "", shared(7))), 7);
}

TEST(ShapeTable, FreesAValueOnlyAfterTheLastReferenceOfEveryThread) {
    std::atomic<int> alive = 0;
    Reference<Living> here;
    Reference<Living> there;
    {
        ShapeTable<Living> table(4);
        table.insert(gemm(1, 1, 1), "", std::make_shared<Living>(alive, 1));
        here = table.find(gemm(1, 1, 1), "");
        std::jthread([&] { there = table.find(gemm(1, 1, 1), ""); }).join();
    }
    here = {};
    EXPECT_EQ(there->m(), 1);
    EXPECT_EQ(alive, 1);
    there = {};
    EXPECT_EQ(alive, 0);
}

TEST(ShapeTable, FindsAllOfMoreThanItsFirstSizeHolds) {
    ShapeTable<int> table(1000);
    for (int m = 1; m <= 1000; ++m) table.insert(gemm(m, 1, 1), "", shared(m));
    for (int m = 1; m <= 1000; ++m) ASSERT_EQ(value_of(table.find(gemm(m, 1, 1), "")), m);
    EXPECT_EQ(table.size(), 1000U);
}

TEST(ShapeTable, NeverHoldsMoreThanItsCapacityWhateverIsAskedOfIt) {
    std::atomic<int> alive = 0;
    {
        ShapeTable<Living> table(64);
        for (int m = 1; m <= 10'000; ++m) {
            table.insert(gemm(m, 1, 1), "", std::make_shared<Living>(alive, m));
            ASSERT_LE(table.size(), 64U);
            ASSERT_LE(alive, 64) << "what is forgotten is freed";
        }
        EXPECT_GE(table.size(), 48U) << "no more is forgotten than a quarter";
    }
    EXPECT_EQ(alive, 0);
}

TEST(ShapeTable, ForgetsFirstWhatIsNotLookedUp) {
    ShapeTable<int> table(64);
    for (int m = 1; m <= 1000; ++m) {
        table.insert(gemm(m, 1, 1), "", shared(m));
        ASSERT_EQ(value_of(table.find(gemm(1, 1, 1), "")), 1) << "in use, after " << m;
    }
    EXPECT_FALSE(table.find(gemm(2, 1, 1), ""));
    EXPECT_EQ(value_of(table.find(gemm(1000, 1, 1), "")), 1000) << "the newest";
}

TEST(ShapeTable, KeepsTheNewestWhereAllOthersWereLookedUp) {
    ShapeTable<int> table(4);
    for (int m = 1; m <= 4; ++m) table.insert(gemm(m, 1, 1), "", shared(m));
    for (int m = 1; m <= 4; ++m) ASSERT_EQ(value_of(table.find(gemm(m, 1, 1), "")), m);
    table.insert(gemm(5, 1, 1), "", shared(5));
    EXPECT_EQ(value_of(table.find(gemm(5, 1, 1), "")), 5);
    EXPECT_EQ(table.size(), 3U);
}

TEST(ShapeTable, OfOneProblemHoldsTheLast) {
    ShapeTable<int> table(0);
    table.insert(gemm(1, 1, 1), "", shared(1));
    table.insert(gemm(2, 1, 1), "", shared(2));
    EXPECT_FALSE(table.find(gemm(1, 1, 1), ""));
    EXPECT_EQ(value_of(table.find(gemm(2, 1, 1), "")), 2);
}

TEST(ShapeTable, WhatAReaderHoldsOutlivesItsEntry) {
    std::atomic<int> alive = 0;
    ShapeTable<Living> table(4);
    table.insert(gemm(1, 1, 1), "", std::make_shared<Living>(alive, 1));
    const auto held = table.find(gemm(1, 1, 1), "");
    for (int m = 2; m <= 100; ++m) table.insert(gemm(m, 1, 1), "", std::make_shared<Living>(alive, m));
    EXPECT_FALSE(table.find(gemm(1, 1, 1), ""));
    EXPECT_EQ(held->m(), 1);
}

TEST(ShapeTable, ServesReadersWhileOthersInsertAndForget) {
    std::atomic<int> alive = 0;
    ShapeTable<Living> table(32);
    {
        std::vector<std::jthread> threads;
        for (unsigned seed = 0; seed < 40; ++seed) {
            threads.emplace_back([&, seed] {
                for (unsigned i = 0; i < 1000; ++i) {
                    const std::int64_t m = 1 + (i * 7 + seed * 131) % 200;
                    if (const auto found = table.find(gemm(m, 1, 1), "")) {
                        ASSERT_EQ(found->m(), m);
                    } else {
                        table.insert(gemm(m, 1, 1), "", std::make_shared<Living>(alive, m));
                    }
                }
            });
        }
    }
    table.insert(gemm(1000, 1, 1), "", std::make_shared<Living>(alive, 1000));
    table.insert(gemm(1001, 1, 1), "", std::make_shared<Living>(alive, 1001));
    EXPECT_LE(alive, 33);
}

}  // namespace
}  // namespace smemtune
