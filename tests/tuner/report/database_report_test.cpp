// Tests the text and JSON that `smemtune db` prints for a database that the test fills.
#include "tuner/report/database_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// t.db has trials of 512x512x512 on an H100: one of `naive` and three of `tiled`. The second trial of `tiled` won the
// finals.
class DatabaseReport : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        scratch = std::make_unique<Scratch>();
        Store store(*scratch / "t.db");
        auto device = model_device("sm_90");
        device.name = "NVIDIA H100";
        const auto device_row = store.remember(device);
        const auto problem = store.remember(gemm(512, 512, 512));
        const auto run = store.start_run({R"({"sizes":"512"})", R"({"finals":"in turn"})",
                                          R"({"smemtune":"9.8.7","compiler":"nvrtc 13.0","platform":"driver 580.1"})"});
        const auto& templates = builtin_templates();
        const auto key_of = [&](const std::string& name) {
            const auto& kernel = *std::ranges::find(templates, name, &KernelTemplate::name);
            return TrialKey{
                device_row,
                store.remember(TemplateRecord{name, "gemm", kernel.hash, kernel.files}, default_configuration(kernel)),
                problem};
        };
        const auto remember = [&](const TrialKey& key, const std::string& configuration, const Outcome& outcome) {
            store.remember(TrialRecord{.key = key,
                                       .configuration = parse_configuration(configuration),
                                       .outcome = outcome,
                                       .resources = {.registers = 40, .static_shared_bytes = 8192},
                                       .compile_ms = 250,
                                       .run = run,
                                       .verified_by = "operation/testbed",
                                       .code_hash = "aa11",
                                       .toolchain = "nvrtc 13.0; driver 580.1"});
        };
        const auto naive = key_of("naive");
        const auto tiled = key_of("tiled");
        remember(naive, "BLOCK_X=32,BLOCK_Y=8", Measurement{.median_us = 40, .samples_us = {40}});
        remember(tiled, "TILE_WIDTH=32", Measurement{.median_us = 9, .samples_us = {9}});
        remember(tiled, "TILE_WIDTH=16", Measurement{.median_us = 10, .samples_us = {10, 10}, .clock_khz = 1980000});
        remember(tiled, "TILE_WIDTH=8", Rejection{Stage::wrong, "C[0,0] is nan"});
        store.set_winner(tiled, parse_configuration("TILE_WIDTH=16"), std::nullopt);
        store.finish_run(run, "complete");
    }
    static void TearDownTestSuite() { scratch.reset(); }

    static Finished db(std::vector<std::string> words) {
        words.insert(words.begin(), "db");
        words.insert(words.end(), {"--db", "t.db"});
        return smemtune::run(*scratch, words);
    }
    static json db_json(std::vector<std::string> words) {
        words.emplace_back("--json");
        const auto finished = db(words);
        EXPECT_EQ(finished.code, 0) << finished.err;
        auto parsed = json::parse(finished.out);
        EXPECT_EQ(parsed.at("schema"), 1);
        return parsed;
    }

    static inline std::unique_ptr<Scratch> scratch;
};

TEST_F(DatabaseReport, TheListNamesDevicesTemplatesAndSizesWithTheirTrials) {
    const auto text = db({"list"}).out;
    EXPECT_THAT(text.substr(0, text.find('\n')), MatchesRegex("t.db: [0-9.]+ KiB, schema [0-9], 1 run.*"));
    EXPECT_THAT(text, HasSubstr("NVIDIA H100         3         1        1  20"));
    EXPECT_THAT(text, HasSubstr("naive            1         0        0  20"));
    EXPECT_THAT(text, HasSubstr("gemm f32 nn 512x512x512         3         1  20"));
    const auto listed = db_json({"list"});
    EXPECT_EQ(listed.at("command"), "db list");
    EXPECT_EQ(listed.at("templates").at(1).at("name"), "tiled");
    EXPECT_EQ(listed.at("templates").at(1).at("measured"), 2);
    EXPECT_GT(listed.at("bytes"), 1000);
}

TEST_F(DatabaseReport, TheListTakesTheFilters) {
    const auto text = db({"list", "--template", "naive"}).out;
    EXPECT_THAT(text, AllOf(HasSubstr("naive"), Not(HasSubstr("tiled"))));
    EXPECT_THAT(db({"list", "--template", "nothing"}).out, HasSubstr("no trial matches"));
}

TEST_F(DatabaseReport, TheBestHaveSpeedShareRatioAndDate) {
    // 2 * 512^3 operations in 10 us are 26.84 TFLOP/s. The device's peak is 66.9 TFLOP/s.
    const auto text = db({"best"}).out;
    EXPECT_THAT(text, HasSubstr("tiled     10 us  26.84 T   40.1 %        4.00  20"));
    EXPECT_THAT(text, HasSubstr("default\n")) << "TILE_WIDTH=16 is the default";
    const auto best = db_json({"best"}).at("winners");
    ASSERT_EQ(best.size(), 1U);
    EXPECT_EQ(best.at(0).at("configuration"), (json{{"TILE_WIDTH", 16}}));
    EXPECT_EQ(best.at(0).at("times_baseline"), 4);
    EXPECT_EQ(best.at(0).at("device_name"), "NVIDIA H100");
}

TEST_F(DatabaseReport, TheTrialsSayWhyTheWinnerIsNotTheFastest) {
    const auto text = db({"trials"}).out;
    EXPECT_LT(text.find("TILE_WIDTH=32"), text.find("won the finals")) << "by time";
    EXPECT_THAT(text, HasSubstr("won the finals: a trial is timed with few samples"));
    EXPECT_THAT(text, HasSubstr("TILE_WIDTH=8: C[0,0] is nan"));
    EXPECT_THAT(db({"trials", "--template", "naive"}).out, Not(HasSubstr("finals")));
}

TEST_F(DatabaseReport, TheTrialsAreLimitedAndSorted) {
    const auto two = db({"trials", "--limit", "2"}).out;
    EXPECT_THAT(two, AllOf(HasSubstr("TILE_WIDTH=32"), Not(HasSubstr("naive"))));
    EXPECT_THAT(two, HasSubstr("2 more: --limit 0 lists all"));
    EXPECT_THAT(db({"trials", "--limit", "0"}).out, Not(HasSubstr("more:")));
    const auto sorted = db_json({"trials", "--sort", "trial", "--limit", "3"});
    EXPECT_EQ(sorted.at("more"), 1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(sorted.at("trials").at(static_cast<std::size_t>(i)).at("id"), i + 1);
    EXPECT_EQ(db_json({"trials", "--sort", "date"}).at("trials").at(0).at("id"), 4) << "the latest first";
    EXPECT_EQ(db_json({"trials"}).at("trials").size(), 4U);
    const auto unknown = db({"trials", "--sort", "size"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("size"));
}

TEST_F(DatabaseReport, ATrialIsShownWithItsRunAndAllItsParameters) {
    const auto text = db({"show", "3"}).out;
    for (const auto* part :
         {"trial 3\n", "gemm f32 nn 512x512x512", "NVIDIA H100", "10 us +- 0 us, the median of 2 samples",
          "26.84 TFLOP/s", "1980 MHz", "trial 2 was faster when it was tried", "40 a thread", "8192 bytes static",
          "compiled in 250 ms", "9.8.7", "nvrtc 13.0", "driver 580.1", "finals: in turn", ": complete",
          "TILE_WIDTH  16\n"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, HasSubstr("in full, against operation/testbed (another version of the operation than"));
    EXPECT_THAT(text, HasSubstr("SHA-256 aa11"));
    EXPECT_THAT(text, HasSubstr("nvrtc 13.0; driver 580.1"));
    EXPECT_THAT(text, Not(HasSubstr("attempts")));
    EXPECT_THAT(db({"show", "2"}).out, HasSubstr("TILE_WIDTH  32  (default 16)"));
    EXPECT_THAT(db({"show", "4"}).out, HasSubstr("wrong: C[0,0] is nan"));
    const auto shown = db_json({"show", "3"});
    EXPECT_EQ(shown.at("id"), 3);
    EXPECT_EQ(shown.at("verified_by"), "operation/testbed");
    EXPECT_EQ(shown.at("code_hash"), "aa11");
    EXPECT_EQ(shown.at("toolchain"), "nvrtc 13.0; driver 580.1");
    EXPECT_FALSE(shown.contains("attempts"));
    EXPECT_EQ(shown.at("run").at("versions").at("compiler"), "nvrtc 13.0");
    EXPECT_EQ(shown.at("run").at("ended"), "complete");
    EXPECT_FALSE(shown.at("measurement").contains("energy_uj"));
}

TEST(TrialText, SaysHowFarATrialWasVerifiedAndHowOftenItWasTried) {
    const auto& templates = builtin_templates();
    const auto& kernel = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    TrialFacts trial{.row = {.problem = gemm(64, 64, 64)}};
    trial.operation_identity = operation_identity(kernel, trial.row.problem);
    auto& record = trial.row.record;
    record.outcome = Measurement{.median_us = 1, .samples_us = {1}};
    EXPECT_THAT(trial_text(trial, nullptr, 200), HasSubstr("not in full: it cannot win and is not served"));
    record.verified_by = unrecorded;
    EXPECT_THAT(trial_text(trial, nullptr, 200), HasSubstr("'tune' verifies it again"));
    record.verified_by = *trial.operation_identity + "/testbed";
    EXPECT_THAT(trial_text(trial, nullptr, 200), HasSubstr("/testbed (the operation as it is stored"));
    record.outcome = Rejection{Stage::timeout, "ran past its deadline"};
    record.attempts = 2;
    EXPECT_THAT(trial_text(trial, nullptr, 200), HasSubstr("attempts       2; a crash or timeout is tried again"));
    EXPECT_EQ(trial_json(trial).at("attempts"), 2);
}

// The stored manifest cannot be parsed, so the defaults are unknown, and configurations are shown with all parameters.
TEST(TrialFacts, AreThereWithoutTheTemplatesManifest) {
    const Scratch other;
    Store store(other / "t.db");
    const TrialKey key{store.remember(model_device("sm_90")),
                       store.remember(TemplateRecord{"odd", "gemm", "hash", {{"odd.toml", "no manifest"}}}),
                       store.remember(gemm(64, 64, 64))};
    store.remember(TrialRecord{.key = key,
                               .configuration = {{{"A", 1}, {"B", 2}}},
                               .outcome = Measurement{.median_us = 1, .samples_us = {1}}});
    const auto facts = TrialReader(store).read(*store.row(1));
    EXPECT_FALSE(facts.defaults);
    EXPECT_FALSE(facts.flops);
    EXPECT_EQ(facts.differences(), "A=1,B=2");
}

}  // namespace
}  // namespace smemtune
