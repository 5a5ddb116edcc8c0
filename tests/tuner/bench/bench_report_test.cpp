#include "tuner/bench/bench_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tuner/report/json.h"

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

TEST(BenchReport, TheJsonHasEveryFieldUnderItsName) {
    auto report = example();
    report.problems = {measured(512, {{.cache = Cache::warm, .ours = {.median_us = 8, .spread_us = 0.5}}})};
    report.problems[0].match = "nearest";
    report.problems[0].why_not = "out of memory";
    report.problems[0].kernel.configuration.reset();
    report.complete = false;
    report.provenance = {.command_line = "smemtune bench",
                         .version = "1.2",
                         .commit = "",
                         .date = "2026-01-02",
                         .device = {.name = "GPU"},
                         .platform = "",
                         .compiler = "nvrtc",
                         .database = "t.db",
                         .competitors = {{"cublas", "13"}},
                         .pairs = {.least = 3, .most = 4, .narrow = 0.25, .sag = 0.125},
                         .seed = 9};
    auto expected = nlohmann::json::parse(R"({
        "smemtune": "1.2", "command_line": "smemtune bench", "date": "2026-01-02", "compiler": "nvrtc",
        "database": "t.db", "against": {"cublas": "13"}, "tf32_override": false, "complete": false,
        "geometric_means": [],
        "policy": {"least_pairs": 3, "most_pairs": 4, "narrow": 0.25, "sag": 0.125, "seed": 9},
        "problems": [{"stored": true, "match": "nearest", "kernel": {"algorithm": "tiled"}, "why_not": "out of memory",
                      "caches": {"warm": {"median_us": 8.0, "spread_us": 0.5, "flops": 1.25e14, "against": {}}},
                      "host_us": {"ours": 2.5}}]})");
    expected["device"] = report.provenance.device;
    expected["problems"][0]["problem"] = report.problems[0].problem;
    EXPECT_EQ(to_json(report), expected);
}

TEST(BenchReport, WhatIsUnknownOrWrongIsLeftOutOfTheJson) {
    auto report = example();
    auto& problem = report.problems[0];
    problem.operations = 0;
    problem.caches[0].comparisons[0].ratio.clock_khz = 0;
    report.defaults = {{"tiled", {{{"TILE_WIDTH", 16}}}}};
    auto json = to_json(report);
    const auto& cold = json["problems"][0]["caches"]["cold"];
    EXPECT_FALSE(cold.contains("flops"));
    EXPECT_FALSE(cold["against"]["cublas"].contains("ours_flops"));
    EXPECT_FALSE(cold["against"]["cublas"].contains("theirs_flops"));
    EXPECT_FALSE(cold["against"]["cublas"].contains("clock_khz"));
    EXPECT_EQ(cold["against"]["cublas"]["ours_us"], 100.0);
    EXPECT_EQ(cold["against"]["cublas"]["theirs_us"], 200.0);
    EXPECT_EQ(json["problems"][0]["kernel"]["defaults"], (nlohmann::json{{"TILE_WIDTH", 16}}));
    EXPECT_DOUBLE_EQ(json["problems"][1]["caches"]["cold"]["against"]["cublas"]["theirs_flops"].get<double>(), 2e13);
    problem.wrong = "C[0] is 1";
    json = to_json(report);
    EXPECT_EQ(json["problems"][0]["wrong"], "C[0] is 1");
    EXPECT_FALSE(json["problems"][0].contains("caches") || json["problems"][0].contains("host_us"));
}

TEST(BenchReport, TheTextSaysWhyThereIsNoRatioAndThatItIsIncomplete) {
    auto report = example();
    auto& comparisons = report.problems[0].caches[0].comparisons;
    comparisons[1].wrong = true;
    EXPECT_THAT(to_text(report), HasSubstr("WRONG: none is stored"));
    comparisons[1].wrong = false;
    EXPECT_THAT(to_text(report), HasSubstr("not compared: none is stored"));
    EXPECT_THAT(to_text(report), Not(HasSubstr("incomplete")));
    report.complete = false;
    EXPECT_THAT(to_text(report), HasSubstr("\nincomplete: it ended before everything was measured\n"));
    report.defaults = {{"tiled", {{{"TILE_WIDTH", 32}}}}};
    EXPECT_THAT(to_text(report), HasSubstr("tiled default"));
}

}  // namespace
}  // namespace smemtune
