#include "tuner/portfolio/portfolio_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tuner/report/json.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

PortfolioReport::Served served(const std::string& kind, double count, std::optional<double> predicted,
                               std::optional<double> nearest = {}) {
    PortfolioReport::Served each{.sample = {.problem = gemm(1, 2, 3), .count = count}, .kind = kind, .best_us = 5};
    each.left_out.predicted = predicted;
    each.left_out.best_member = 0.01;
    each.left_out.nearest = nearest;
    return each;
}

PortfolioReport example() {
    PortfolioReport report{.device = model_device("sm_90")};
    report.members = {{.kernel_template = "tiled",
                       .configuration = {{{"W", 8}}},
                       .defaults = {{{"W", 16}}},
                       .model = {.coefficients = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .error = 0.5},
                       .classes = {"000", "111"}}};
    report.served = {served("deep", 1, 0.1), served("square", 3, 0.02, 0.5), served("square", 1, 0.06),
                     served("square", 7, {})};
    report.configurations = 1234;
    report.counts = {.measured = 2000, .recalled = 31, .rejected = 42};
    report.wrong = 2;
    report.tune_seconds = 1;
    report.cross_seconds = 2;
    report.verify_seconds = 3;
    report.seconds = 4;
    report.ended = "budget";
    return report;
}

TEST(PortfolioReport, TheNumberOfSearchedSizesIsSaid) {
    auto report = example();
    report.served[1].searched = report.served[3].searched = true;
    EXPECT_THAT(to_text(report, 0), HasSubstr("1,234 configurations; 2 of 4 sizes searched; 2,000 pairs timed"));
}

TEST(PortfolioReport, SamplesThatWereNotTimedInFullHaveNoLoss) {
    auto report = example();
    report.served[2].has_loss = report.served[3].has_loss = report.served[0].has_loss = false;
    report.served[3].searched = true;
    const auto text = to_text(report, 0);
    EXPECT_THAT(text, HasSubstr("1 of 4 sizes searched"));
    EXPECT_THAT(text, HasSubstr("\nall             1  2.0 %, 2.0 %"));
    EXPECT_THAT(text, Not(HasSubstr("deep")));
}

TEST(PortfolioReport, TheTableHasTheMeanByCountAndTheWorstOfEachKind) {
    EXPECT_EQ(to_text(example(), 0),
              "sm_90: 1 member of 1,234 configurations; 2,000 pairs timed, 31 already known, 42 not "
              "right or too large\n"
              "2 members left out: wrong, or not compiled or not verified\n"
              "\n"
              "Expected loss, mean and worst, at a problem that was left out:\n"
              "\n"
              "problems  samples                     predicted   best member  nearest                        "
              "one for all\n"
              "square          3   3.0 %, 6.0 % (1 not served)  1.0 %, 1.0 %  50.0 %, 50.0 % (2 not served)  "
              "serves none\n"
              "deep            1                10.0 %, 10.0 %  1.0 %, 1.0 %  serves none                    "
              "serves none\n"
              "all             4  4.4 %, 10.0 % (1 not served)  1.0 %, 1.0 %  50.0 %, 50.0 % (3 not served)  "
              "serves none\n");
    auto report = example();
    report.served[0].left_out.same_members = 0.25;
    EXPECT_THAT(to_text(report, 0), HasSubstr("same members"));
    report.served.clear();
    report.wrong = 0;
    EXPECT_THAT(to_text(report, 0), Not(HasSubstr("left out")));
}

TEST(PortfolioReport, TheJsonHasEveryFigure) {
    auto report = example();
    report.served.resize(1);
    report.served[0].searched = true;
    report.served[0].predicted_us = 6;
    const auto found = to_json(report);
    EXPECT_EQ(found.at("members"), json::array({{{"template", "tiled"},
                                                 {"configuration", {{"W", 8}}},
                                                 {"defaults", {{"W", 16}}},
                                                 {"coefficients",
                                                  {{"launch", 1.0},
                                                   {"waves", 2.0},
                                                   {"blocks", 3.0},
                                                   {"latency", 4.0},
                                                   {"arithmetic", 5.0},
                                                   {"loads", 6.0},
                                                   {"memory", 7.0},
                                                   {"workspace", 8.0},
                                                   {"dependent_loads", 9.0},
                                                   {"l2", 10.0}}},
                                                 {"error", 0.5},
                                                 {"classes", {"000", "111"}}}}));
    EXPECT_EQ(found.at("samples"), json::array({{{"problem", gemm(1, 2, 3)},
                                                 {"count", 1.0},
                                                 {"kind", "deep"},
                                                 {"best_us", 5.0},
                                                 {"searched", true},
                                                 {"predicted_us", 6.0},
                                                 {"loss", {{"predicted", 0.1}, {"best_member", 0.01}}}}}));
    EXPECT_EQ(found.at("expected_loss").size(), 10U) << "five rules, for deep problems and for all";
    EXPECT_EQ(found.at("expected_loss")[0], (json{{"kind", "deep"},
                                                  {"rule", "predicted"},
                                                  {"samples", 1},
                                                  {"served", 1},
                                                  {"mean", 0.1},
                                                  {"p95", 0.1},
                                                  {"worst", 0.1}}));
    EXPECT_EQ(found.at("expected_loss")[9].at("rule"), "same_members");
    EXPECT_EQ(found.at("expected_loss")[9].at("kind"), "all");
    EXPECT_FALSE(found.at("expected_loss")[9].contains("mean")) << "it served nothing";
    EXPECT_EQ(found.at("device"), json(report.device));
    const json figures{{"configurations", 1234},
                       {"measured", 2000},
                       {"recalled", 31},
                       {"rejected", 42},
                       {"wrong", 2},
                       {"tune_seconds", 1.0},
                       {"cross_seconds", 2.0},
                       {"verify_seconds", 3.0},
                       {"seconds", 4.0},
                       {"ended", "budget"}};
    for (const auto& [name, value] : figures.items()) {
        EXPECT_EQ(found.at(name), value) << name;
    }
}

}  // namespace
}  // namespace smemtune
