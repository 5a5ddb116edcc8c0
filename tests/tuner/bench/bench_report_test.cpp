#include "tuner/bench/bench_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Comparison against(const std::string& competitor, double median, double low, double high) {
    return {.competitor = competitor,
            .kernel = {competitor + "'s best"},
            .ratio = {.median = median,
                      .low = low,
                      .high = high,
                      .ours_us = 100,
                      .theirs_us = 100 * median,
                      .pairs = 30,
                      .dropped = 2,
                      .clock_khz = 1980000}};
}

ProblemBench measured(std::int64_t size, const std::vector<CacheResult>& caches) {
    return {.problem = gemm(size, size, size),
            .kernel = {"tiled", Configuration{{{"TILE_WIDTH", 32}}}},
            .stored = true,
            .operations = 1e9,
            .caches = caches,
            .host = {{"ours", 2.5}}};
}

BenchReport example() {
    const CacheResult cold{
        .cache = Cache::cold,
        .ours = {.median_us = 101},
        .comparisons = {against("cublas", 2.0, 1.9, 2.1), {.competitor = "x.db", .why_not = "none is stored"}}};
    const CacheResult warm{
        .cache = Cache::warm, .ours = {.median_us = 91}, .comparisons = {against("cublas", 1, .9, 1.1)}};
    const CacheResult second{
        .cache = Cache::cold, .ours = {.median_us = 100}, .comparisons = {against("cublas", .5, .4, .6)}};
    return {.provenance = {.commit = "abc",
                           .device = {.name = "GPU"},
                           .platform = "driver 1",
                           .competitors = {{"cublas", "13.1.0"}}},
            .problems = {measured(512, {cold, warm}), measured(1024, {second}), {.problem = gemm(9, 9, 9)}}};
}

TEST(BenchReport, MeansAreGeometricAndOfEachPeerAndCacheAlone) {
    const auto all = overall(example().problems);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(std::tuple(all[0].cache, all[0].competitor, all[0].problems), std::tuple(Cache::cold, "cublas", 2U));
    EXPECT_DOUBLE_EQ(all[0].mean, 1.0) << "twice as fast and half as fast";
    EXPECT_EQ(std::tuple(all[0].ahead, all[0].behind), std::tuple(1U, 1U));
    EXPECT_EQ(std::tuple(all[1].cache, all[1].problems, all[1].ahead, all[1].behind),
              std::tuple(Cache::warm, 1U, 0U, 0U))
        << "an interval around 1 is level";
}

TEST(BenchReport, TheTextHasEveryRatioWithItsIntervalAndWhatRan) {
    const auto text = to_text(example());
    EXPECT_THAT(text, HasSubstr("GPU, driver 1, cublas 13.1.0\n"));
    EXPECT_THAT(text, HasSubstr("2.000   1.900..2.100"));
    EXPECT_THAT(text, HasSubstr("none is stored"));
    EXPECT_THAT(text, HasSubstr("tiled TILE_WIDTH=32"));
    EXPECT_THAT(text, HasSubstr("cublas's best"));
    EXPECT_THAT(text, HasSubstr("2.50 us"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "geometric mean, cold, against cublas: 1.000 over 2 problems: ahead at 1, behind at 1, level at 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("9x9x9"))) << "nothing is stored for it, which is said elsewhere";
}

TEST(BenchReport, AnOverrideThatLetsLibrariesComputeInTf32IsSaid) {
    auto report = example();
    EXPECT_THAT(to_text(report), Not(HasSubstr("TF32")));
    EXPECT_EQ(to_json(report)["tf32_override"], false);
    report.provenance.tf32_override = true;
    EXPECT_THAT(to_text(report), HasSubstr("NVIDIA_TF32_OVERRIDE=1 is set"));
    EXPECT_EQ(to_json(report)["tf32_override"], true);
}

TEST(BenchReport, TheJsonSaysWhereItComesFromAndEveryFigure) {
    const auto json = to_json(example());
    EXPECT_EQ(json["commit"], "abc");
    EXPECT_EQ(json["device"]["name"], "GPU");
    EXPECT_EQ(json["against"]["cublas"], "13.1.0");
    EXPECT_EQ(json["problems"][0]["kernel"]["template"], "tiled");
    EXPECT_EQ(json["problems"][0]["kernel"]["configuration"], (nlohmann::json{{"TILE_WIDTH", 32}}));
    const auto& cold = json["problems"][0]["caches"]["cold"];
    EXPECT_EQ(cold["median_us"], 101);
    const auto& cublas = cold["against"]["cublas"];
    EXPECT_EQ(cublas["ratio"], 2.0);
    EXPECT_EQ(cublas["interval"], (nlohmann::json{1.9, 2.1}));
    EXPECT_EQ(cublas["pairs"], 30);
    EXPECT_EQ(cublas["dropped"], 2);
    EXPECT_EQ(cublas["clock_khz"], 1980000);
    EXPECT_DOUBLE_EQ(cublas["ours_flops"], 1e13);
    EXPECT_EQ(cold["against"]["x.db"], (nlohmann::json{{"why_not", "none is stored"}}));
    EXPECT_EQ(json["problems"][0]["host_us"]["ours"], 2.5);
    EXPECT_FALSE(json["problems"][2]["stored"]);
    EXPECT_EQ(json["geometric_means"].size(), 2U);
}

}  // namespace
}  // namespace smemtune
