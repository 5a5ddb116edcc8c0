// Tests the width of every table, report and progress line at common terminal widths.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "templates/manifest/catalog.h"
#include "tuner/bench/bench_report.h"
#include "tuner/report/database_report.h"
#include "tuner/report/progress.h"
#include "tuner/report/report.h"
#include "tuner/tuning/validate.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// The configuration of a winner with 17 parameters.
constexpr const char* longest =
    "ASYNC=1,A_FIRST=0,BLOCKS_PER_SM=1,BLOCK_K=32,BLOCK_M=16,BLOCK_N=128,CLUSTER_K=1,GROUP_M=8,LANES_M=2,LANE_PAIRS=1,"
    "SLICES_K=4,SPLIT_K=1,STAGES=4,THREAD_M=8,THREAD_N=4,VECTOR_A=1,VECTOR_B=4";

Device h200() {
    auto device = model_device("sm_90");
    device.name = "NVIDIA H200";
    return device;
}

Configuration defaults() {
    static const auto& templates = builtin_templates();
    return default_configuration(*std::ranges::find(templates, "warp_tiled", &KernelTemplate::name));
}

std::vector<Problem> problems() { return {gemm(512, 512, 512), gemm(64, 64, 65536), gemm(8192, 11008, 16384)}; }

TuneReport tuned() {
    TuneReport report{.device = h200(), .search = "surrogate"};
    for (const auto& problem : problems()) {
        ProblemResult result{.problem = problem, .operations = 2.7e9, .valid = 1'412'312, .evaluations = 1234};
        result.best = {"batched_warp_tiled",
                       parse_configuration(longest),
                       defaults(),
                       {.median_us = 1234.5, .spread_us = 1, .samples_us = {1234.5}},
                       {}};
        result.baseline_us = 123456;
        result.ended = "nothing was right";
        result.effort = {
            .compile = 1234.5, .verify = 234.5, .time = 1234.5, .finals = 12.5, .wait = 123.4, .total = 9999};
        report.problems.push_back(result);
    }
    report.problems.push_back({.problem = gemm(1, 1, 1)});
    report.workers = {{.device = "0", .start = 1.25, .trials = 1234}, {.device = "host", .idle = 1000.5}};
    report.planned = 4'236'936;
    report.measured = 1234;
    report.rejected = {{Stage::limits, 1}, {Stage::compile, 10}, {Stage::wrong, 1}, {Stage::timeout, 2}};
    report.reasons = {{"warp_tiled compile: " + std::string(300, 'x') + " and more", 12}};
    report.left_out = {{"batched_warp_tiled: " + std::string(40, 'y') + " " + std::string(60, 'z'), 4'515'840'000}};
    report.seconds = 12345;
    return report;
}

ValidationReport validated() {
    ValidationReport report{.device = h200(), .seeds = 5};
    for (const auto& problem : problems()) {
        Validation validation{.problem = problem, .runs = 5};
        validation.winners = {{"warp_tiled", parse_configuration(longest), defaults(), {2, 3, 4}, true, 1234.5, 0},
                              {"batched_warp_tiled", parse_configuration(longest), {}, {5, 6}, false, 1334.5, 0.0812}};
        report.problems.push_back(validation);
    }
    return report;
}

BenchReport compared() {
    BenchReport report{.provenance = {.device = h200(),
                                      .platform = "driver 580.159.04, CUDA 13000, runtime 13000",
                                      .competitors = {{"cublas", "13.1.0"}, {"cublaslt", "13.1.0"}}}};
    for (const auto& problem : problems()) {
        const Ratio ratio{.median = 1.234,
                          .low = 1.111,
                          .high = 1.345,
                          .ours_us = 1234.5,
                          .theirs_us = 1432.1,
                          .pairs = 120,
                          .dropped = 10};
        CacheResult result{.cache = Cache::cold, .ours = {.median_us = 1234.5}};
        result.comparisons = {{.competitor = "cublaslt",
                               .kernel = {"algorithm 21, tile 128x64, stages 3, split-K 4, the best of 64"},
                               .ratio = ratio},
                              {.competitor = "winners-of-last-week.db",
                               .why_not = "it computes something wrong: " + std::string(100, 'x'),
                               .wrong = true}};
        report.problems.push_back({.problem = problem,
                                   .kernel = {"warp_tiled", parse_configuration(longest)},
                                   .stored = true,
                                   .operations = 2.7e9,
                                   .caches = {result, result},
                                   .host = {{"ours, fetched once", 12.5}}});
    }
    report.defaults = {{"warp_tiled", defaults()}};
    return report;
}

std::vector<TrialFacts> trials() {
    std::vector<TrialFacts> found;
    for (const auto& problem : problems()) {
        TrialFacts trial{.row = {.id = 1'234'567,
                                 .device = "NVIDIA H200",
                                 .kernel_template = "batched_warp_tiled",
                                 .template_hash = "913fa4a7-3906-52b8-b071-1901c48ed09f",
                                 .problem = problem,
                                 .winner = true,
                                 .finished_at = "2026-11-22T13:58:01.123Z",
                                 .decided_at = "2026-11-22T13:58:01.123Z"},
                         .device = h200(),
                         .defaults = defaults(),
                         .flops = 2.49e13,
                         .share_of_peak = 0.372,
                         .times_baseline = 12.34,
                         .faster_trial = 12};
        trial.row.record.configuration = parse_configuration(longest);
        trial.row.record.outcome = Measurement{.median_us = 1234.5, .spread_us = 1.25, .samples_us = {1, 2, 3}};
        found.push_back(trial);
        trial.row.record.outcome = Rejection{Stage::compile, "error: " + std::string(200, 'x')};
        trial.row.winner = false;
        found.push_back(trial);
    }
    return found;
}

const RunRow a_run{
    {R"({"sizes":"512..8192:512,1000,4095,4096x11008x128,300x700x5000,64x64x65536","seed":1})",
     R"({"checks":"whole output on every check of the operation; on the first only of what is clearly behind"})",
     R"({"smemtune":"0.1.0","compiler":"nvrtc 13.0 -std=c++17","platform":"driver 580.159.04"})"},
    "2026-11-22T13:58:01.123Z",
    "2026-11-22T14:58:01.123Z",
    "complete"};

Store::Inventory inventory() {
    const Store::Group group{"batched_gemm f32 nn 64x8192x11008x16384",
                             1'234'567,
                             123'456,
                             1234,
                             "2026-11-22T13:58:01.123Z",
                             "2026-11-22T13:58:01.123Z"};
    return {{group}, {group}, {group, group}, {{"batched_gemm bf16 nn", "NVIDIA H100 80GB HBM3", 64, true}}};
}

class Width : public ::testing::TestWithParam<std::size_t> {
protected:
    static void expect_to_fit(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), GetParam()) << line;
    }
};

TEST_P(Width, OfTheReportOfTune) {
    const auto text = to_text(tuned(), "t.db", GetParam());
    expect_to_fit(text);
    for (const auto* part : {"512x512x512", "BLOCK_K=32", "STAGES=4", "1.234 ms", "100.00", "1,412,312", "9999.00"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, ::testing::Not(HasSubstr("THREAD_M="))) << "it is at its default";
    EXPECT_THAT(text, HasSubstr("\n    ")) << "details below their rows";
}

TEST_P(Width, OfTheReportOfValidate) {
    const auto text = to_text(validated(), GetParam());
    expect_to_fit(text);
    EXPECT_THAT(text, HasSubstr("8.12 %"));
}

TEST_P(Width, OfTheReportOfBench) {
    const auto text = to_text(compared(), GetParam());
    expect_to_fit(text);
    for (const auto* part : {"1.234", "1.111..1.345", "WRONG", "12.50 us"}) EXPECT_THAT(text, HasSubstr(part));
}

TEST_P(Width, OfTheDatabasesTables) {
    const auto found = trials();
    const Store::Summary summary{.path = "/home/somebody/with/a/long/name/.local/share/smemtune/tuning-of-the-h200.db"};
    const auto winners = std::vector{found[0], found[2], found[4]};
    for (const auto& text : {inventory_text(summary, 123'456'789, inventory(), GetParam()),
                             best_text(winners, GetParam()), trials_text(found, 1'234'567, GetParam()),
                             trial_text(found[0], &a_run, GetParam()), trial_text(found[1], nullptr, GetParam())}) {
        expect_to_fit(text);
    }
    EXPECT_THAT(best_text(winners, GetParam()), HasSubstr("37.2 %"));
    EXPECT_THAT(trials_text(found, 17, GetParam()), HasSubstr("17 more: --limit 0 lists all"));
}

TEST_P(Width, OfTheProgress) {
    ProgressState state{.size = 12, .sizes = 40, .size_text = "64x65536x8192x11008"};
    expect_to_fit(progress_line(state, GetParam()));
    state.trials = 1'412'312;
    state.share = 0.05;
    state.seconds = 12345;
    state.left = 23456;
    state.best_time = "1.234 ms";
    state.best = std::string("batched_warp_tiled ") + longest;
    for (const auto* part : {"", "run 12 of 100"}) {
        state.part = part;
        const auto line = progress_line(state, GetParam());
        expect_to_fit(line);
        EXPECT_THAT(line, HasSubstr("[12/40]"));
        EXPECT_THAT(line, HasSubstr("best 1.234 ms"));
    }
}

INSTANTIATE_TEST_SUITE_P(Width, Width, ::testing::Values(80, 100));

}  // namespace
}  // namespace smemtune
