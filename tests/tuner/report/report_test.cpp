#include "tuner/report/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tuner/support.h"
#include "tuner/report/json.h"
#include "tuner/report/text.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ProblemResult result(std::int64_t size, double us) {
    ProblemResult each{.problem = gemm(size, size, size)};
    each.operations = 2.0 * static_cast<double>(size * size * size);
    each.best = {.kernel_template = "tiled",
                 .configuration = {{{"TILE_WIDTH", 32}}},
                 .defaults = {{{"TILE_WIDTH", 16}}},
                 .measurement = {.median_us = us, .spread_us = 1, .samples_us = {us}},
                 .resources = {.registers = 40}};
    each.baseline_us = 2.5 * us;
    each.best_us = {{"naive", 2.5 * us}, {"tiled", us}};
    return each;
}

TuneReport report() {
    TuneReport made{.device = model_device("sm_90")};
    made.problems = {result(1024, 100), result(4096, 4000)};
    made.planned = 20;
    made.recalled = 3;
    made.measured = 14;
    made.rejected = {{Stage::wrong, 2}, {Stage::timeout, 1}};
    made.reasons = {{"tiled wrong: C[0,0] is nan", 2}, {"naive timeout: ran past its deadline", 1}};
    made.left_out = {{"tiled: threads per block", 4}};
    made.seconds = 1.25;
    return made;
}

std::string line_with(const std::string& text, const std::string& word) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(word) != std::string::npos) return line;
    }
    return "no line has " + word;
}

TEST(Report, ALineForEachProblemSaysWhatWonAndHowFastItIs) {
    const auto line = line_with(to_text(report(), "t.db"), "1024x1024x1024");
    EXPECT_THAT(line, HasSubstr("tiled"));
    EXPECT_THAT(line, HasSubstr("TILE_WIDTH=32"));
    EXPECT_THAT(line, HasSubstr("100 us"));
    EXPECT_THAT(line, HasSubstr("21.47 T")) << "2 * 1024^3 operations in 100 us are 21.47 TFLOP/s";
    EXPECT_THAT(line_with(to_text(report(), "t.db"), "4096x4096x4096"), HasSubstr("34.36 T"));
}

TEST(Report, ALineForEachWorkerSaysWhereItsTimeWent) {
    auto made = report();
    made.workers = {{.device = "0", .start = 0.25, .prepare = 0.125, .trials = 0.5},
                    {.device = "1", .finals = 0.5, .compiler = 0.0625, .idle = 0.5}};
    const auto text = to_text(made, "t.db");
    EXPECT_EQ(line_with(text, "messages"), "device  start  prepare  trials  finals  compiler  idle  messages");
    EXPECT_EQ(line_with(text, "0.12"), "0        0.25     0.12    0.50    0.00      0.00  0.00      0.38")
        << "messages take the rest of 1.25 s";
    const auto written = to_json(made, "t.db");
    EXPECT_EQ(written.at("workers").at(1).at("device_id"), "1");
    EXPECT_EQ(written.at("workers").at(1).at("idle_seconds"), 0.5);
}

TEST(Report, TheShareOfThePeakIsThatOfTheDevice) {
    // The device's peak is 132 SMs * 128 FP32 units * 2 operations * 1.98 GHz = 66.9 TFLOP/s.
    EXPECT_THAT(line_with(to_text(report(), "t.db"), "1024x1024x1024"), HasSubstr("32.1 %"));
    EXPECT_THAT(line_with(to_text(report(), "t.db"), "4096x4096x4096"), HasSubstr("51.4 %"));
}

TEST(Report, ADeviceWithoutAKnownPeakHasNoShareOfIt) {
    auto made = report();
    made.device.clock_khz = 0;
    EXPECT_THAT(to_text(made, "t.db"), Not(HasSubstr("%")));
}

TEST(Report, TimesBaselineComparesWithTheBaselinesBest) {
    EXPECT_THAT(line_with(to_text(report(), "t.db"), "1024x1024x1024"), HasSubstr("2.50"));
    auto made = report();
    made.problems[0].baseline_us.reset();
    EXPECT_THAT(line_with(to_text(made, "t.db"), "1024x1024x1024"), Not(HasSubstr("2.50")));
}

TEST(Report, AnOperationWithoutArithmeticHasNoRate) {
    auto made = report();
    made.problems.resize(1);
    made.problems[0].operations = 0;
    EXPECT_THAT(line_with(to_text(made, "t.db"), "1024x1024x1024"), Not(HasSubstr("%")));
    EXPECT_FALSE(to_json(made, "x.db").at("problems").at(0).contains("flops"));
}

TEST(Report, AProblemWithoutARightConfigurationSaysSo) {
    auto made = report();
    made.problems[0].best.reset();
    EXPECT_THAT(line_with(to_text(made, "t.db"), "1024x1024x1024"), HasSubstr("none was right"));
    EXPECT_FALSE(to_json(made, "x.db").at("problems").at(0).contains("winner"));
}

TEST(Report, AProblemWithoutAValidConfigurationSaysWhy) {
    auto made = report();
    made.problems[0].best.reset();
    made.problems[0].invalid = {{"matrix_vector", "one operand is a vector (M == 1)"}};
    const auto text = to_text(made, "t.db");
    EXPECT_THAT(line_with(text, "1024x1024x1024"), HasSubstr("none is valid"));
    EXPECT_THAT(text,
                HasSubstr("matrix_vector has no valid configuration for gemm f32 nn 1024x1024x1024; its default is "
                          "not valid, because one operand is a vector (M == 1)\n"));
    EXPECT_EQ(to_json(made, "x.db").at("problems").at(0).at("invalid").at("matrix_vector"),
              "one operand is a vector (M == 1)");
}

TEST(Report, CountsWhatWasTriedAndWhyWhatFailed) {
    const auto text = to_text(report(), "t.db");
    EXPECT_THAT(text, HasSubstr("20 configurations: 3 known before, 14 measured, 3 rejected: 2 wrong, 1 timeout"));
    EXPECT_THAT(text, HasSubstr("2 x tiled wrong: C[0,0] is nan"));
    EXPECT_THAT(text, HasSubstr("4 x tiled: threads per block"));
}

TEST(Report, SaysHowToFindTheCauseOfACrash) {
    auto made = report();
    EXPECT_THAT(to_text(made, "t.db"), Not(HasSubstr("crash")));
    made.rejected[Stage::crash] = 1;
    EXPECT_THAT(to_text(made, "t.db"),
                HasSubstr("to find the cause of a crash, run the same command with '--device host "
                          "--checked': it reports accesses outside arrays, with line and thread\n"));
    made.device = checked({.name = "host: CPU"});
    EXPECT_THAT(to_text(made, "t.db"), Not(HasSubstr("--checked")));
}

TEST(Report, SaysWhatWasVerifiedOrTriedAgain) {
    auto made = report();
    EXPECT_THAT(to_text(made, "t.db"), Not(HasSubstr(" again")));
    made.verified_again = 3;
    made.retried = 2;
    EXPECT_THAT(to_text(made, "t.db"), HasSubstr("3 verified again"));
    EXPECT_THAT(to_text(made, "t.db"), HasSubstr("2 tried again that crashed"));
    EXPECT_EQ(to_json(made, "x.db").at("verified_again"), 3);
    EXPECT_EQ(to_json(made, "x.db").at("retried"), 2);
}

TEST(Report, ManyReasonsEndInACommandThatShowsThemAll) {
    auto made = report();
    for (int i = 0; i < 100; ++i) made.reasons["reason " + std::to_string(i)] = 1;
    EXPECT_THAT(to_text(made, "t.db"), HasSubstr("smemtune db trials --rejected"));
    EXPECT_LT(to_text(made, "t.db").size(), 2000U);
}

TEST(Report, FiveReasonsAreShownInFull) {
    auto made = report();
    made.reasons.clear();
    for (int i = 1; i <= 5; ++i) made.reasons["reason " + std::to_string(i)] = 1;
    EXPECT_THAT(to_text(made, "t.db"), AllOf(HasSubstr("reason 5"), Not(HasSubstr("... more"))));
    made.reasons["reason 6"] = 1;
    EXPECT_THAT(to_text(made, "t.db"), AllOf(HasSubstr("reason 5"), Not(HasSubstr("reason 6")), HasSubstr("... more")));
}

TEST(Report, ARunThatEndedBeforeItsFirstProblemHasNoTable) {
    const TuneReport nothing{.device = model_device("sm_90")};
    EXPECT_THAT(to_text(nothing, "t.db"), HasSubstr("0 configurations"));
    EXPECT_EQ(to_json(nothing, "x.db").at("problems").size(), 0U);
}

TEST(Report, TheJsonHoldsTheSameFacts) {
    const auto written = to_json(report(), "some.db");
    EXPECT_EQ(written.at("database"), "some.db");
    EXPECT_EQ(written.at("device").at("name"), "sm_90");
    EXPECT_EQ(written.at("ended"), "complete");
    EXPECT_EQ(written.at("planned"), 20);
    EXPECT_EQ(written.at("rejected").at("wrong"), 2);
    EXPECT_EQ(written.at("left_out").at("tiled: threads per block"), 4);
    const auto& problem = written.at("problems").at(0);
    EXPECT_EQ(problem.at("winner").at("configuration"), (nlohmann::json{{"TILE_WIDTH", 32}}));
    EXPECT_EQ(problem.at("winner").at("defaults"), (nlohmann::json{{"TILE_WIDTH", 16}}));
    EXPECT_DOUBLE_EQ(problem.at("winner").at("measurement").at("median_us"), 100);
    EXPECT_DOUBLE_EQ(problem.at("times_baseline"), 2.5);
    EXPECT_NEAR(problem.at("flops").get<double>(), 2.147e13, 1e10);
    EXPECT_DOUBLE_EQ(problem.at("best_us_by_template").at("naive"), 250);
}

TEST(Report, ACompilersMessageThatIsNoUtf8DoesNotSpoilTheJson) {
    auto made = report();
    made.reasons["tiled compile: \xff\xfe"] = 1;
    EXPECT_TRUE(nlohmann::json::accept(json_text(to_json(made, "x.db"))));
}

TEST(Report, ATableSaysWhereTheTimeWentAndWhyEachSizeEnded) {
    auto made = report();
    made.problems.at(0).valid = 710;
    made.problems.at(0).evaluations = 64;
    made.problems.at(0).ended = "gain unlikely";
    made.problems.at(0).effort = {
        .compile = 3.5, .verify = 0.25, .time = 1.125, .finals = 0.5, .wait = 0.75, .total = 2};
    const auto text = to_text(made, "t.db");
    EXPECT_EQ(line_with(text, "gain unlikely"), "gemm f32 nn 1024x1024x1024     64    710  gain unlikely     2.00");
    EXPECT_EQ(line_with(text, "3.50"), "gemm f32 nn 1024x1024x1024     3.50    0.25  1.12    0.50  0.75");
    const auto effort = to_json(made, "x.db").at("problems").at(0).at("effort");
    EXPECT_EQ(effort.at("compile_seconds"), 3.5);
    EXPECT_EQ(effort.at("wait_seconds"), 0.75);
    EXPECT_EQ(effort.at("seconds"), 2);
}

// Returns a report in which every field has a different value.
TuneReport full() {
    TuneReport made{.device = model_device("sm_90")};
    made.devices = 2;
    made.search = "genetic";
    ProblemResult won{.problem = gemm(1000, 100, 10)};
    won.operations = 2e6;
    won.best = {.kernel_template = "tiled",
                .configuration = {{{"TILE_WIDTH", 32}}},
                .defaults = {{{"TILE_WIDTH", 16}}},
                .measurement = {.median_us = 4, .spread_us = 0.5, .samples_us = {4, 5}, .clock_khz = 7},
                .resources = {.registers = 40, .spill_bytes = 1, .static_shared_bytes = 2, .dynamic_shared_bytes = 3}};
    won.baseline_us = 10;
    won.best_us = {{"naive", 10}, {"tiled", 4}};
    won.valid = 1234;
    won.evaluations = 56;
    won.ended = "gain is unlikely";
    won.unchecked = true;
    won.effort = {.compile = 1.25, .verify = 2.25, .time = 3.25, .finals = 4.25, .wait = 5.25, .total = 6.25};
    ProblemResult lost{.problem = gemm(7, 7, 7)};
    lost.ended = "every configuration was tried";
    made.problems = {won, lost};
    made.workers = {{.device = "1", .start = 0.5, .prepare = 1, .trials = 2, .finals = 4, .compiler = 8, .idle = 16}};
    made.planned = 1001;
    made.recalled = 1002;
    made.measured = 1003;
    made.verified_again = 1004;
    made.retried = 1005;
    made.same_code = 1006;
    made.unfinished = 1007;
    made.unprepared = 1008;
    made.rejected = {{Stage::limits, 3}, {Stage::wrong, 2000}};
    made.reasons = {{"tiled wrong: C[0,0] is nan", 2000}};
    made.left_out = {{"tiled: threads per block", 4}};
    made.ended = "budget";
    made.seconds = 75.5;
    return made;
}

TEST(Report, TheTextOfARunHasEveryFigure) {
    EXPECT_EQ(to_text(full(), "t.db"),
              "problem                  winner               time  FLOP/s  of peak  x baseline  "
              "differs from default\n"
              "gemm f32 nn 1000x100x10  tiled (NOT CHECKED)  4 us  0.50 T    0.7 %        2.50  "
              "TILE_WIDTH=32\n"
              "gemm f32 nn 7x7x7        none was right\n"
              "\n"
              "NOT CHECKED: the operation has no reference (reference = \"none\" in its manifest), so "
              "a wrong kernel may have won\n"
              "\n"
              "the searches: valid configurations tried, and why each search ended\n"
              "problem                  tried  valid  ended                          seconds\n"
              "gemm f32 nn 1000x100x10     56  1,234  gain is unlikely                  6.25\n"
              "gemm f32 nn 7x7x7            0      0  every configuration was tried     0.00\n"
              "\n"
              "where the time of each size went, in seconds: compile is the sum over all threads, the other "
              "columns are times of the workers, wait is the wait for the compiler\n"
              "problem                  compile  verify  time  finals  wait\n"
              "gemm f32 nn 1000x100x10     1.25    2.25  3.25    4.25  5.25\n"
              "gemm f32 nn 7x7x7           0.00    0.00  0.00    0.00  0.00\n"
              "\n"
              "where the time of each worker went, in seconds: prepare is for operands and references, "
              "compiler is the wait for a compiler, idle is the wait for another worker\n"
              "device  start  prepare  trials  finals  compiler   idle  messages\n"
              "1        0.50     1.00    2.00    4.00      8.00  16.00     44.00\n"
              "\n"
              "1,001 configurations: 1,002 known before, 1,003 measured, 2,003 rejected: 3 limits, "
              "2000 wrong; 1:16 min, search genetic\n"
              "1,004 verified again, with the times known before: the checks, the reference or the "
              "compiler changed since, or it is not known what they were verified against\n"
              "1,005 tried again that crashed or ran past their deadline in an earlier run\n"
              "  2,000 x tiled wrong: C[0,0] is nan\n"
              "left out beforehand, for the device's limits\n"
              "  4 x tiled: threads per block\n");
}

TEST(Report, TheJsonOfARunHasEveryFieldUnderItsName) {
    const auto made = full();
    auto expected = nlohmann::json::parse(R"({
        "device_count": 2, "search": "genetic", "database": "t.db", "ended": "budget", "seconds": 75.5,
        "planned": 1001, "recalled": 1002, "measured": 1003, "same_code": 1006, "verified_again": 1004, "retried": 1005,
        "unfinished": 1007,
        "unprepared": 1008,
        "rejected": {"limits": 3, "wrong": 2000}, "reasons": {"tiled wrong: C[0,0] is nan": 2000},
        "recalled_reasons": {},
        "left_out": {"tiled: threads per block": 4},
        "workers": [{"device_id": "1", "start_seconds": 0.5, "prepare_seconds": 1.0, "trials_seconds": 2.0,
                     "finals_seconds": 4.0, "compiler_seconds": 8.0, "idle_seconds": 16.0}],
        "problems": [
            {"best_us_by_template": {"naive": 10.0, "tiled": 4.0}, "valid": 1234, "evaluations": 56,
             "ended": "gain is unlikely", "unchecked": true, "flops": 5e11, "times_baseline": 2.5,
             "effort": {"compile_seconds": 1.25, "verify_seconds": 2.25, "time_seconds": 3.25, "finals_seconds": 4.25,
                        "wait_seconds": 5.25, "seconds": 6.25},
             "winner": {"template": "tiled", "configuration": {"TILE_WIDTH": 32}, "defaults": {"TILE_WIDTH": 16}}},
            {"best_us_by_template": {}, "valid": 0, "evaluations": 0, "ended": "every configuration was tried",
             "effort": {"compile_seconds": 0.0, "verify_seconds": 0.0, "time_seconds": 0.0, "finals_seconds": 0.0,
                        "wait_seconds": 0.0, "seconds": 0.0}}]})");
    expected["device"] = made.device;
    for (std::size_t i = 0; i < 2; ++i) expected["problems"][i]["problem"] = made.problems[i].problem;
    expected["problems"][0]["winner"]["measurement"] = made.problems[0].best->measurement;
    expected["problems"][0]["winner"]["resources"] = made.problems[0].best->resources;
    auto found = to_json(made, "t.db");
    EXPECT_NEAR(found["problems"][0]["flops"].get<double>(), 5e11, 1e3);
    found["problems"][0]["flops"] = 5e11;
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace smemtune
