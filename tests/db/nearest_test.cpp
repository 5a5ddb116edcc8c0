#include <algorithm>
#include <cmath>
#include <random>

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

double distance(const Problem& a, const Problem& b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, a.extents.size()); ++i) {
        const auto difference =
            std::log2(static_cast<double>(a.extents[i].second)) - std::log2(static_cast<double>(b.extents[i].second));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

class NearestTest : public ::testing::Test {
protected:
    void tune(const Problem& problem, const std::string& device = "sm_90") {
        auto at = key;
        at.device = store.remember(model_device(device));
        at.problem = store.remember(problem);
        store.remember(measured(at, tile(16), 7));
    }
    // Returns the sizes of the nearest problems, read page by page.
    std::vector<std::string> sizes(const Problem& problem, std::int64_t page = 3) {
        std::vector<std::string> result;
        for (std::int64_t skipped = 0;; skipped += page) {
            const auto nearest = store.nearest(key.device, problem, skipped, page);
            for (const auto& row : nearest.rows) result.push_back(size_text(row.problem));
            if (nearest.is_last) return result;
        }
    }

    Scratch scratch;
    std::filesystem::path file = scratch / "tuned.db";
    Store store{file};
    TrialKey key{.device = store.remember(model_device("sm_90")), .kernel_template = store.remember(tiled())};
};

using Sizes = std::vector<std::string>;

TEST_F(NearestTest, AllProblemsComeInTheOrderOfTheirDistance) {
    std::mt19937 random(7);  // NOLINT: the same sizes every time
    std::vector<Problem> problems;
    for (int i = 0; i < 400; ++i) {
        const auto extent = [&] {
            return static_cast<std::int64_t>(std::exp2(static_cast<double>(random() % 1300) / 100)) + 1;
        };
        problems.push_back(gemm(extent(), extent(), extent()));
        tune(problems.back());
    }
    const auto asked = gemm(300, 4000, 70);
    std::vector<double> found;
    for (std::int64_t skipped = 0; skipped < 400; skipped += 7) {
        for (const auto& row : store.nearest(key.device, asked, skipped, 7).rows) {
            found.push_back(distance(asked, row.problem));
        }
    }
    std::vector<double> expected;
    std::sort(problems.begin(), problems.end());
    problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
    for (const auto& each : problems) expected.push_back(distance(asked, each));
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST_F(NearestTest, OnlyTheDeviceOperationTypeAndLayoutAskedForCount) {
    tune(gemm(64, 64, 64));
    tune(gemm(65, 65, 65), "sm_80");
    auto other = gemm(66, 66, 66);
    other.layout = "nt";
    tune(other);
    other = gemm(67, 67, 67);
    other.type = "f64";
    tune(other);
    other.operation = "other";
    tune(other);
    EXPECT_EQ(sizes(gemm(66, 66, 66)), Sizes{"64x64x64"});
    EXPECT_EQ(sizes(other), Sizes{"67x67x67"});
    EXPECT_EQ(store.nearest(999, gemm(1, 1, 1), 0, 9).rows.size(), 0U);
}

TEST_F(NearestTest, EachOfFourExtentsCountsAndThereMayBeFewerOrMore) {
    for (std::size_t extents = 1; extents <= 6; ++extents) {
        Problem problem{.operation = "op" + std::to_string(extents), .type = "f32"};
        for (std::size_t i = 0; i < extents; ++i)
            problem.extents.emplace_back(std::string(1, static_cast<char>('A' + i)), 64);
        for (std::size_t i = 0; i < extents; ++i) {
            auto far = problem;
            far.extents[i].second = 64 << (i + 2);
            tune(far);
        }
        tune(problem);
        const auto found = sizes(problem, 2);
        ASSERT_EQ(found.size(), extents + 1);
        if (extents <= 4) {
            EXPECT_EQ(found.front(), size_text(problem));
        }
        for (std::size_t i = 1; i < std::min<std::size_t>(extents, 4); ++i) {
            auto far = problem;
            far.extents[i].second = 64 << (i + 2);
            if (extents <= 4) {
                EXPECT_EQ(found[i + 1], size_text(far));
            }
        }
    }
}

TEST_F(NearestTest, AProblemIsPlacedOnceAndOneWithoutAMeasurementIsNoNeighbour) {
    for (int i = 0; i < 3; ++i) tune(gemm(64, 64, 64));
    Store(file).remember(measured({key.device, key.kernel_template, store.remember(gemm(64, 64, 64))}, tile(8), 5));
    auto at = key;
    at.problem = store.remember(gemm(32, 32, 32));
    store.remember(rejected(at, tile(16), Stage::wrong));
    EXPECT_EQ(sizes(gemm(32, 32, 32)), Sizes{"64x64x64"});
    at.problem = *store.find(gemm(64, 64, 64));
    store.forget(at);
    EXPECT_EQ(sizes(gemm(32, 32, 32)), Sizes{});
    EXPECT_EQ(value_of(file, "SELECT count(*) FROM places"), "1");
}

TEST_F(NearestTest, ADamagedRowIsLeftOut) {
    for (const int size : {16, 32, 64}) tune(gemm(size, size, size));
    execute(file, "UPDATE trials SET configuration = '?' WHERE problem = 2");
    EXPECT_EQ(sizes(gemm(32, 32, 32)), (Sizes{"16x16x16", "64x64x64"}));
}

TEST_F(NearestTest, ANamedTemplateServesItsOwnTrialsOfTheVersionsAskedFor) {
    tune(gemm(64, 64, 64));
    auto at = key;
    at.kernel_template = store.remember(TemplateRecord{"naive", "gemm", "hash of naive", {}});
    at.problem = store.remember(gemm(128, 128, 128));
    store.remember(measured(at, tile(4), 9));
    const auto of = [&](const std::string& name, const std::vector<std::string>& hashes) {
        Sizes result;
        for (const auto& row : store.nearest(key.device, gemm(64, 64, 64), 0, 9, name, hashes).rows) {
            result.push_back(size_text(row.problem));
        }
        return result;
    };
    // Two faster trials must not be found: one was never verified, and the other was cut short.
    auto faster = measured(at, tile(2), 1);
    faster.verified_by.clear();
    store.remember(faster);
    faster = measured(at, tile(8), 1);
    std::get<Measurement>(faster.outcome).cut_short = true;
    store.remember(faster);
    EXPECT_EQ(of("naive", {}), Sizes{"128x128x128"});
    EXPECT_EQ(of("naive", {"another", "hash of naive"}), Sizes{"128x128x128"});
    EXPECT_EQ(of("naive", {"another"}), Sizes{});
    EXPECT_EQ(of("tiled", {}), Sizes{"64x64x64"});
    EXPECT_EQ(store.best(at.device, at.problem, "tiled", {}), std::nullopt);
    EXPECT_EQ(store.best(at.device, at.problem, "naive", {})->record.configuration, tile(4));
    EXPECT_EQ(store.best(at.device, at.problem, "", {})->record.configuration, tile(4));
}

TEST_F(NearestTest, TheLastPageIsTheOneWithFewerProblemsThanAskedFor) {
    for (const int size : {16, 32, 64}) tune(gemm(size, size, size));
    const auto nearest = [&](std::int64_t skipped, std::int64_t count) {
        return store.nearest(key.device, gemm(16, 16, 16), skipped, count);
    };
    EXPECT_FALSE(nearest(0, 2).is_last);
    EXPECT_FALSE(nearest(0, 3).is_last) << "there may be more";
    EXPECT_TRUE(nearest(0, 4).is_last);
    EXPECT_TRUE(nearest(3, 1).is_last);
    EXPECT_TRUE(store.nearest(999, gemm(16, 16, 16), 0, 1).is_last);
    ASSERT_EQ(nearest(1, 1).rows.size(), 1U);
    EXPECT_EQ(size_text(nearest(1, 1).rows[0].problem), "32x32x32");
}

}  // namespace
}  // namespace smemtune
