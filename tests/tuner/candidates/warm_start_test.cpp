#include "tuner/candidates/warm_start.h"

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WarmStartTest : public ::testing::Test {
protected:
    // Stores a measured trial of the template `name` at a matrix product whose extents all equal `size`.
    void know(const Device& device, const std::string& name, std::int64_t size, std::int64_t width, double us,
              const std::string& layout = "nn", bool cut_short = false) {
        const TrialKey key{store.remember(device), row_of(name), store.remember(gemm(size, size, size, "f32", layout))};
        store.remember(TrialRecord{.key = key,
                                   .configuration = {{{"TILE_WIDTH", width}}},
                                   .outcome = Measurement{.median_us = us, .samples_us = {us}, .cut_short = cut_short},
                                   .verified_by = cut_short ? "" : "operation/testbed"});
    }
    std::int64_t row_of(const std::string& name) {
        return store.remember(TemplateRecord{name, "gemm", "hash of " + name, {}});
    }
    [[nodiscard]] WarmStart of(const Device& device, const std::string& name, std::int64_t size) {
        return warm_start(store, store.remember(device), device, gemm(size, size, size), KernelTemplate{.name = name},
                          row_of(name));
    }
    static std::vector<std::int64_t> widths(const WarmStart& start) {
        std::vector<std::int64_t> result;
        for (const auto& each : start.starts) result.push_back(each.values.at("TILE_WIDTH"));
        return result;
    }

    Scratch scratch;
    Store store{scratch / "t.db"};
    Device hopper = model_device("sm_90");
};

TEST_F(WarmStartTest, WhereNothingIsKnownThereIsNothingToStartFrom) {
    const auto nothing = of(hopper, "tiled", 1024);
    EXPECT_THAT(nothing.starts, IsEmpty());
    EXPECT_FALSE(nothing.behind);
}

TEST_F(WarmStartTest, TheNearestSizesComeFirstAndThemselvesNot) {
    know(hopper, "tiled", 512, 5, 10);
    know(hopper, "tiled", 512, 50, 20);
    know(hopper, "tiled", 1024, 10, 10);
    know(hopper, "tiled", 2048, 20, 10);
    know(hopper, "tiled", 4096, 40, 10);
    know(hopper, "tiled", 8192, 80, 10);
    EXPECT_THAT(widths(of(hopper, "tiled", 4096)), ElementsAre(20, 80, 10));
    EXPECT_THAT(widths(of(hopper, "tiled", 600)), ElementsAre(5, 10, 20));
}

TEST_F(WarmStartTest, OtherTemplatesAreNoStartButTellHowFarItIsBehind) {
    know(hopper, "naive", 1024, 1, 90);
    know(hopper, "tiled", 1024, 10, 30);
    const auto naive = of(hopper, "naive", 2048);
    EXPECT_THAT(widths(naive), ElementsAre(1));
    EXPECT_DOUBLE_EQ(naive.behind.value(), 3);
    EXPECT_DOUBLE_EQ(of(hopper, "tiled", 2048).behind.value(), 1);
    EXPECT_TRUE(of(hopper, "naive", 3072).behind) << "three times as large in every extent is near";
    EXPECT_FALSE(of(hopper, "naive", 4200).behind) << "more than four times as large is too far away to tell";
}

TEST_F(WarmStartTest, TheSizeItselfDoesNotTellHowFarATemplateIsBehind) {
    know(hopper, "naive", 1024, 1, 90);
    know(hopper, "tiled", 1024, 10, 30);
    know(hopper, "naive", 2048, 1, 480);
    know(hopper, "tiled", 2048, 10, 240);
    EXPECT_DOUBLE_EQ(of(hopper, "naive", 2048).behind.value(), 3);
}

TEST_F(WarmStartTest, OneThatWasCutShortIsNoStartButTellsHowFarItIsBehind) {
    know(hopper, "naive", 1024, 1, 100, "nn", true);
    know(hopper, "naive", 1024, 2, 90, "nn", true);
    know(hopper, "tiled", 1024, 10, 30);
    know(hopper, "tiled", 2048, 10, 240);
    const auto naive = of(hopper, "naive", 2048);
    EXPECT_THAT(naive.starts, IsEmpty());
    EXPECT_DOUBLE_EQ(naive.behind.value(), 3);
    EXPECT_DOUBLE_EQ(of(hopper, "naive", 4096).behind.value(), 3) << "2048 is nearer, but has no trial of it";
}

TEST_F(WarmStartTest, MoreSimilarDevicesComeBeforeLessSimilarOnesAndTheHostNever) {
    auto sibling = hopper;
    sibling.name = "a smaller Hopper";
    sibling.multiprocessors = 114;
    know(model_device("sm_75"), "tiled", 1024, 75, 10);
    know(sibling, "tiled", 1024, 90, 10);
    know(model_device("sm_80"), "tiled", 1024, 80, 10);
    Device host{.name = "host"};
    know(host, "tiled", 1024, 1, 10);
    EXPECT_THAT(widths(of(hopper, "tiled", 1024)), ElementsAre(90, 80, 75));
    know(hopper, "tiled", 512, 5, 10);
    EXPECT_THAT(widths(of(hopper, "tiled", 1024)), ElementsAre(5, 90, 80, 75)) << "the device itself knows best";
}

TEST_F(WarmStartTest, ThreeDevicesGiveAStartTheWinnerOfTheNearestSizeEach) {
    for (const std::int64_t count : {100, 130, 110, 120}) {
        auto sibling = hopper;
        sibling.name = std::to_string(count) + " multiprocessors";
        sibling.multiprocessors = count;
        know(sibling, "tiled", 1500, count, 10);
        know(sibling, "tiled", 4096, 1, 10);
    }
    EXPECT_THAT(widths(of(hopper, "tiled", 1024)), ElementsAre(130, 120, 110));
}

TEST_F(WarmStartTest, AProblemWithADamagedTrialDoesNotTellHowFarATemplateIsBehind) {
    know(hopper, "naive", 1024, 1, 90);
    know(hopper, "tiled", 1024, 10, 30);
    know(hopper, "naive", 1500, 1, 200);
    know(hopper, "naive", 1500, 2, 210);
    know(hopper, "tiled", 1500, 10, 100);
    ASSERT_DOUBLE_EQ(of(hopper, "naive", 2048).behind.value(), 2);
    SQLite::Database(scratch / "t.db", SQLite::OPEN_READWRITE)
        .exec("UPDATE trials SET samples_us = '[\"none\"]' WHERE configuration = 'TILE_WIDTH=2'");
    EXPECT_DOUBLE_EQ(of(hopper, "naive", 2048).behind.value(), 3) << "the next size tells";
}

TEST_F(WarmStartTest, TheNearestWinnersOfOtherLayoutsComeBeforeOtherDevices) {
    know(model_device("sm_80"), "tiled", 1024, 80, 10);
    know(hopper, "tiled", 512, 5, 10);
    for (const auto& [size, width] : {std::pair(256, 11), std::pair(1024, 12), std::pair(8192, 13)}) {
        know(hopper, "tiled", size, width, 10, "tn");
    }
    KernelTemplate kernel{.name = "tiled"};
    kernel.operation.layouts = {{"nn", {}}, {"tn", {}}};
    const auto row = store.remember(hopper);
    EXPECT_THAT(widths(warm_start(store, row, hopper, gemm(1024, 1024, 1024), kernel, row_of("tiled"))),
                ElementsAre(5, 12, 11, 80));
    kernel.operation.layouts.erase("tn");
    EXPECT_THAT(widths(warm_start(store, row, hopper, gemm(1024, 1024, 1024), kernel, row_of("tiled"))),
                ElementsAre(5, 80))
        << "a layout that the operation does not have";
}

TEST_F(WarmStartTest, WinnersNearbyAreThoseOfTheDeviceItself) {
    know(model_device("sm_80"), "tiled", 1024, 80, 10);
    know(hopper, "tiled", 1500, 10, 10);
    know(hopper, "tiled", 2048, 20, 10);
    know(hopper, "tiled", 4096, 40, 10);
    know(hopper, "tiled", 8192, 40, 10);
    const auto nearby = [&](std::size_t most) {
        return widths({.starts = winners_nearby(store, store.remember(hopper), gemm(2048, 2048, 2048),
                                                KernelTemplate{.name = "tiled"}, most)});
    };
    EXPECT_THAT(nearby(1), ElementsAre(10));
    EXPECT_THAT(nearby(4), ElementsAre(10, 40));
}

TEST_F(WarmStartTest, TheSameConfigurationIsNamedOnce) {
    for (const auto size : {512, 2048, 4096}) know(hopper, "tiled", size, 32, 10);
    EXPECT_THAT(widths(of(hopper, "tiled", 1024)), ElementsAre(32));
}

}  // namespace
}  // namespace smemtune
