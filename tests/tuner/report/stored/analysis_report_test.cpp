#include "tuner/report/stored/analysis_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "templates/space/value.h"
#include "tuner/report/json.h"

namespace smemtune {
namespace {

using nlohmann::json;

TrialRow winner(std::int64_t id, const std::string& name, std::int64_t width, std::vector<double> samples_us) {
    TrialRow row;
    row.id = id;
    row.kernel_template = name;
    row.record.configuration = {{{"W", width}}};
    row.record.outcome = Measurement{.median_us = samples_us.at(0), .samples_us = samples_us};
    return row;
}

std::vector<WinnerPair> pairs() {
    return {{"a", gemm(1, 2, 3), winner(1, "tiled", 8, {40, 40, 40}), winner(2, "naive", 16, {10, 10, 10})},
            {"a", gemm(4, 5, 6), winner(3, "tiled", 8, {10, 10, 10}), winner(4, "tiled", 8, {20, 20, 20})},
            {"b", gemm(4, 5, 6), winner(5, "tiled", 8, {10, 10, 10}), winner(6, "tiled", 8, {10, 10, 10})},
            {"b", gemm(7, 7, 7), winner(7, "tiled", 8, {1500, 1500, 1500}), {}},
            {"c", gemm(7, 7, 7), {}, winner(8, "tiled", 8, {10, 10, 10})},
            {"c", gemm(8, 8, 8), {}, winner(9, "tiled", 8, {10, 10, 10})}};
}

TEST(ComparisonReport, HasARowForEachDeviceAndProblemAndCountsTheVerdicts) {
    const auto all = pairs();
    EXPECT_EQ(comparison_text(all, "x.db", "y.db", 0),
              "device  problem              x.db   y.db  ratio          95 %  verdict\n"
              "a       gemm f32 nn 1x2x3   40 us  10 us  4.000  4.000..4.000  faster\n"
              "a       gemm f32 nn 4x5x6   10 us  20 us  0.500  0.500..0.500  slower\n"
              "b       gemm f32 nn 4x5x6   10 us  10 us  1.000  1.000..1.000  equal within noise\n"
              "b       gemm f32 nn 7x7x7  1.5 ms      -      -             -  only in x.db\n"
              "c       gemm f32 nn 7x7x7       -  10 us      -             -  only in y.db\n"
              "c       gemm f32 nn 8x8x8       -  10 us      -             -  only in y.db\n"
              "3 winners in both: 1 faster in y.db, 1 slower, 1 equal within noise; geometric mean 1.260x\n"
              "1 only in x.db, 2 only in y.db\n");
    EXPECT_EQ(comparison_text({}, "x.db", "y.db", 0), "no device and problem has a winner in both\n");
    EXPECT_EQ(comparison_text(std::span(all).subspan(2, 1), "x.db", "y.db", 0).find("only"), std::string::npos);
}

TEST(ComparisonReport, TheJsonHasBothWinnersAndTheVerdictIfThereAreTwo) {
    const auto all = pairs();
    const auto found = comparison_json(std::span(all).subspan(0, 1)).at(0);
    EXPECT_EQ(found, (json{{"device_name", "a"},
                           {"problem", gemm(1, 2, 3)},
                           {"first",
                            {{"trial", 1},
                             {"template", "tiled"},
                             {"configuration", {{"W", 8}}},
                             {"median_us", 40.0},
                             {"interval_us", {40.0, 40.0}}}},
                           {"second",
                            {{"trial", 2},
                             {"template", "naive"},
                             {"configuration", {{"W", 16}}},
                             {"median_us", 10.0},
                             {"interval_us", {10.0, 10.0}}}},
                           {"ratio", 4.0},
                           {"interval", {4.0, 4.0}},
                           {"verdict", "faster"}}));
    const auto alone = comparison_json(std::span(all).subspan(3, 1)).at(0);
    EXPECT_EQ(alone.at("second"), nullptr);
    EXPECT_FALSE(alone.contains("ratio") || alone.contains("verdict") || alone.contains("interval"));
    EXPECT_EQ(comparison_json(std::span(all).subspan(4, 1)).at(0).at("first"), nullptr);
}

std::vector<StoredImportance> importances() {
    StoredImportance full{.device = "GPU", .kernel_template = "tiled", .problem = gemm(1, 2, 3)};
    full.importance.parameters = {
        {"A", 0.75, {{.value = 1, .time = 9, .measured = 4}, {.value = 2, .time = 3, .measured = 5}}},
        {"T", 0.125, {{.value = text_value("float"), .time = 5, .measured = 9}}}};
    full.importance.pairs = {{"A", "T", 0.5}, {"A", "B", 0.25}, {"B", "T", 0.125}, {"B", "C", 0.0625}};
    full.importance.exact = true;
    full.importance.method = "all valid configurations";
    full.importance.measured = 1009;
    full.importance.rejected = 7;
    full.importance.explained = 0.876;
    StoredImportance poor{.device = "GPU", .kernel_template = "naive", .problem = gemm(4, 5, 6)};
    poor.importance.measured = 3;
    poor.importance.rejected = 2;
    poor.importance.too_little = "only 3 measured";
    return {full, poor};
}

TEST(ImportanceReport, ShowsTheSharesTheBestValuesAndThreePairs) {
    EXPECT_EQ(importance_text(importances(), 0),
              "tiled, gemm f32 nn 1x2x3 on GPU\n"
              "  1,009 measured configurations, 7 rejected; all valid configurations; it explains 88 % of the "
              "variance\n"
              "parameter   share  best value\n"
              "A          75.0 %  2           ███████████████\n"
              "T          12.5 %  float       ██▌\n"
              "A with T   50.0 %  -           ██████████\n"
              "A with B   25.0 %  -           █████\n"
              "B with T   12.5 %  -           ██▌\n"
              "\n"
              "naive, gemm f32 nn 4x5x6 on GPU\n"
              "  only 3 measured\n");
}

TEST(ImportanceReport, TheJsonHasEveryLevelAndPairOrWhatIsMissing) {
    const auto found = importance_json(importances());
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], (json{{"device_name", "GPU"},
                              {"template", "tiled"},
                              {"problem", gemm(1, 2, 3)},
                              {"measured", 1009},
                              {"rejected", 7},
                              {"method", "all valid configurations"},
                              {"exact", true},
                              {"explained", 0.876},
                              {"parameters",
                               {{{"name", "A"},
                                 {"share", 0.75},
                                 {"levels",
                                  {{{"value", 1}, {"mean_us", 9.0}, {"measured", 4}},
                                   {{"value", 2}, {"mean_us", 3.0}, {"measured", 5}}}}},
                                {{"name", "T"},
                                 {"share", 0.125},
                                 {"levels", json::array({{{"value", "float"}, {"mean_us", 5.0}, {"measured", 9}}})}}}},
                              {"pairs",
                               {{{"first", "A"}, {"second", "T"}, {"share", 0.5}},
                                {{"first", "A"}, {"second", "B"}, {"share", 0.25}},
                                {{"first", "B"}, {"second", "T"}, {"share", 0.125}},
                                {{"first", "B"}, {"second", "C"}, {"share", 0.0625}}}}}));
    EXPECT_EQ(found[1], (json{{"device_name", "GPU"},
                              {"template", "naive"},
                              {"problem", gemm(4, 5, 6)},
                              {"measured", 3},
                              {"rejected", 2},
                              {"too_little", "only 3 measured"}}));
    const auto rows = importance_rows(importances());
    ASSERT_EQ(rows.size(), 2U) << "one for each parameter";
    EXPECT_EQ(rows[0], (json{{"device_name", "GPU"},
                             {"template", "tiled"},
                             {"problem", gemm(1, 2, 3)},
                             {"parameter", "A"},
                             {"share", 0.75},
                             {"best_value", 2},
                             {"explained", 0.876}}));
    EXPECT_EQ(rows[1].at("best_value"), "float");
}

std::vector<Convergence> convergences() {
    return {{.device = "GPU",
             .problem = gemm(1, 2, 3),
             .evaluations = 1200,
             .seconds = 75,
             .steps = {{.evaluations = 1, .seconds = 0.5, .best_us = 20, .trial = 11},
                       {.evaluations = 600, .seconds = 30.25, .best_us = 10.8, .trial = 12},
                       {.evaluations = 700, .seconds = 40, .best_us = 10.4, .trial = 13},
                       {.evaluations = 1000, .seconds = 60.5, .best_us = 10, .trial = 14}}}};
}

TEST(ConvergenceReport, SaysAfterHowManyTrialsTheBestTimeWasNear) {
    EXPECT_EQ(convergence_text(convergences(), 0),
              "device  problem            trials  time       best   within 10 %           5 %            1 %   "
              "  best after  speed / best speed, over trials\n"
              "GPU     gemm f32 nn 1x2x3   1,200  1:15 min  10 us  600 / 30.2 s  700 / 40.0 s  1000 / 60.5 s  "
              "1000 / 60.5 s  ▄▄▄▄▄▄▄▄▄▄▄▇▇███████████\n");
}

TEST(ConvergenceReport, TheJsonHasEveryStep) {
    const auto found = convergence_json(convergences());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].at("device_name"), "GPU");
    EXPECT_EQ(found[0].at("problem"), json(gemm(1, 2, 3)));
    EXPECT_EQ(found[0].at("evaluations"), 1200);
    EXPECT_EQ(found[0].at("seconds"), 75.0);
    ASSERT_EQ(found[0].at("steps").size(), 4U);
    EXPECT_EQ(found[0].at("steps")[1],
              (json{{"evaluations", 600}, {"seconds", 30.25}, {"best_us", 10.8}, {"trial", 12}}));
    const auto rows = convergence_rows(convergences());
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[3], (json{{"device_name", "GPU"},
                             {"problem", gemm(1, 2, 3)},
                             {"evaluations", 1000},
                             {"seconds", 60.5},
                             {"best_us", 10.0},
                             {"trial", 14}}));
}

}  // namespace
}  // namespace smemtune
