// Tests which stored trial `smemtune explain` selects, on a database with invented trials.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tests/tuner/support.h"
#include "util/hash.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ExplainStored : public ::testing::Test {
protected:
    // Stores a trial of a product of 64x64x64 and returns its number. A time of 0 stands for a rejection.
    std::int64_t know(const Device& device, const std::string& name, const std::string& layout, double us,
                      bool wins = false, const std::string& type = "f32") {
        Store store(scratch / "t.db");
        const auto& kernel = *std::ranges::find(builtin_templates(), name, &KernelTemplate::name);
        const auto problem = gemm(64, 64, 64, type, layout);
        const TrialRecord trial{
            .key = {store.remember(device),
                    store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                    store.remember(problem)},
            .configuration = default_configuration(kernel),
            .outcome = us > 0 ? Outcome(Measurement{.median_us = us, .samples_us = {us}})
                              : Outcome(Rejection{Stage::wrong, "C[0,0] is nan"}),
            .resources = {.registers = 37},
            .verified_by = "operation/testbed"};
        store.remember(trial);
        if (wins) store.set_winner(trial.key, trial.configuration, std::nullopt);
        return static_cast<std::int64_t>(store.count({}));
    }
    Finished explain(std::vector<std::string> words) {
        words.insert(words.begin(), "explain");
        words.insert(words.end(), {"--db", "t.db"});
        return run(scratch, words);
    }
    json explained(std::vector<std::string> words) {
        words.emplace_back("--json");
        return json::parse(explain(std::move(words)).out, nullptr, false);
    }

    const Scratch scratch;
    const Device hopper = model_device("sm_90");
    const Device ampere = model_device("sm_80");
};

TEST_F(ExplainStored, AWinnerIsThatOfTheLayoutAndTemplateAskedFor) {
    const auto naive = know(hopper, "naive", "nn", 30);
    const auto tiled = know(hopper, "tiled", "nn", 40, true);
    const auto transposed = know(hopper, "warp_tiled", "nt", 5, true);
    EXPECT_EQ(explained({"--sizes", "64"}).at("trial"), tiled) << "the winner, not the fastest, and of layout nn";
    EXPECT_EQ(explained({"--sizes", "64", "--layout", "nt"}).at("trial"), transposed);
    EXPECT_EQ(explained({"naive", "--sizes", "64"}).at("trial"), naive);
    EXPECT_EQ(explained({"--sizes", "64", "--templates", "tiled,naive"}).at("trial"), naive) << "the faster one";
    EXPECT_FALSE(
        explained({"tiled", "--config", "TILE_WIDTH=8", "--sizes", "64", "--device", "sm_90"}).contains("trial"));
    const auto text = explain({"--sizes", "64"}).out;
    EXPECT_THAT(text, HasSubstr("trial " + std::to_string(tiled) + ", the winner, of t.db, 40"));
}

TEST_F(ExplainStored, ATypeChoosesTheWinnerTheElementsOfATemplateAndThePortfolio) {
    const auto tiled = know(hopper, "tiled", "nn", 40, true);
    const auto narrow = know(hopper, "tensor_warp_tiled", "nn", 5, true, "bf16");
    EXPECT_EQ(explained({"--sizes", "64"}).at("trial"), narrow) << "of any type, the fastest";
    EXPECT_EQ(explained({"--sizes", "64", "--type", "f32"}).at("trial"), tiled);
    EXPECT_EQ(explained({"--sizes", "64", "--type", "bf16"}).at("trial"), narrow);
    const auto of_template = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"explain", "tensor_warp_tiled", "--device", "sm_90", "--json"});
        return json::parse(run(scratch, words).out, nullptr, false).at("problem").at("type");
    };
    EXPECT_EQ(of_template({}), "f16") << "the first type of its manifest";
    EXPECT_EQ(of_template({"--type", "tf32"}), "tf32");
    EXPECT_THAT(explain({"--sizes", "64", "--portfolio", "--type", "bf16", "--layout", "tn", "--device", "sm_90"}).err,
                HasSubstr("t.db holds no portfolio of gemm bf16 tn on "));
}

TEST_F(ExplainStored, OfSeveralDevicesOneMustBeNamed) {
    know(hopper, "tiled", "nn", 40, true);
    const auto old = know(ampere, "tiled", "nn", 20, true);
    const auto several = explain({"--sizes", "64"});
    EXPECT_EQ(several.code, 2);
    EXPECT_THAT(several.err,
                HasSubstr("t.db holds winners of several devices; choose one with --device: sm_80; sm_90"));
    const auto one = explained({"--sizes", "64", "--device", "sm_80"});
    EXPECT_EQ(one.at("trial"), old);
    EXPECT_EQ(one.at("device").at("name"), "sm_80");
    EXPECT_EQ(explain({"--sizes", "64", "--device", "sm_*"}).code, 2);
    const auto here = know(list_devices().front().device, "tiled", "nn", 90, true);
    EXPECT_EQ(explained({"--sizes", "64"}).at("trial"), here) << "the slowest, but of this machine";
}

TEST_F(ExplainStored, TheDeviceOfARankingMayBeOneOfTheDatabaseThatThisMachineLacks) {
    auto elsewhere = hopper;
    elsewhere.name = "NVIDIA H100 80GB HBM3";
    know(elsewhere, "tiled", "nn", 40, true);
    know(ampere, "tiled", "nn", 20, true);
    const auto ranking = explain({"--sizes", "128", "--portfolio", "--device", elsewhere.name});
    EXPECT_EQ(ranking.code, 2);
    EXPECT_THAT(ranking.err, HasSubstr("t.db holds no portfolio of gemm f32 nn on NVIDIA H100 80GB HBM3"));
}

TEST_F(ExplainStored, OfDevicesWithOneNameTheOneWithAPortfolioIsRanked) {
    auto slow = hopper;
    slow.name = "a GPU";
    auto fast = slow;
    slow.clock_khz = fast.clock_khz / 2;
    know(slow, "tiled", "nn", 40);
    know(fast, "tiled", "nn", 20);
    Store store(scratch / "t.db");
    const auto& kernel = *std::ranges::find(builtin_templates(), "naive", &KernelTemplate::name);
    const auto row = store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
    const std::vector<std::uint8_t> code{1};
    store.set_portfolio({store.remember(fast), "gemm", "f32", "nn"},
                        {{.kernel_template = row,
                          .configuration = default_configuration(kernel),
                          .model = {.coefficients = {3}},
                          .registers = 32,
                          .classes = {"000", "001", "010", "011", "100", "101", "110", "111"},
                          .verified_by = operation_identity(kernel, gemm(64, 64, 64)) + "/testbed",
                          .code_hash = sha256(std::as_bytes(std::span(code)))}},
                        {{.kernel_template = row,
                          .configuration = default_configuration(kernel),
                          .target = "sm_90 f32 nn",
                          .compiler = "1",
                          .code = code}});
    const auto ranking = explained({"--sizes", "128", "--portfolio", "--device", "a GPU"});
    ASSERT_EQ(ranking.at("ranking").size(), 1);
    EXPECT_EQ(ranking.at("ranking").at(0).at("template"), "naive");
    EXPECT_EQ(ranking.at("device").at("clock_khz"), fast.clock_khz);
}

TEST_F(ExplainStored, ATrialHasTheRegistersThatItsCompilerReported) {
    const auto rejected = know(hopper, "tiled", "nn", 0);
    const auto finished = explain({"--trial", std::to_string(rejected)});
    EXPECT_EQ(finished.code, 0) << "its resources fit";
    EXPECT_THAT(finished.out, AllOf(HasSubstr("rejected: C[0,0] is nan"), HasSubstr("as compiled for the trial")));
    const auto facts = explained({"--trial", std::to_string(rejected)});
    EXPECT_EQ(facts.at("launch").at("registers"), 37);
    EXPECT_EQ(facts.at("device").at("name"), "sm_90");
    EXPECT_THAT(explain({"--trial", "7"}).err, HasSubstr("--trial 7: there is no such trial"));
    EXPECT_EQ(explain({"--sizes", "64"}).code, 2) << "a rejected trial wins nothing";
}

}  // namespace
}  // namespace smemtune
