#include "tuner/page/data/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PageData : public ::testing::Test {
protected:
    Scratch scratch;
    Store store{scratch / "page.db"};
    std::vector<KernelTemplate> templates = builtin_templates();
    Device device = model_device("sm_90");

    TrialRecord trial(const std::string& name, const Problem& problem, double us, const Configuration& changes = {},
                      Store* to = nullptr) {
        auto& into = to == nullptr ? store : *to;
        const auto& kernel = *std::ranges::find(templates, name, &KernelTemplate::name);
        TrialRecord record{
            .key = {into.remember(device),
                    into.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                    into.remember(problem)},
            .configuration = completed(changes, default_configuration(kernel)),
            .outcome = Measurement{.median_us = us, .samples_us = std::vector<double>(9, us)},
            .resources = {.registers = 64},
            .run = into.start_run({R"({"sizes":"64"})", "{}", "{}"}),
            .verified_by = "op/testbed"};
        into.remember(record);
        return record;
    }
    nlohmann::json page(const PageRequest& request = {}) { return nlohmann::json::parse(page_data(store, request)); }
};

TEST_F(PageData, ATrialPointsToItsDeviceTemplateProblemAndRun) {
    trial("naive", gemm(64, 32, 16), 9);
    trial("tiled", gemm(64, 32, 16), 4);
    const auto data = page();
    EXPECT_THAT(data["trials"]["id"], SizeIs(2));
    EXPECT_THAT(data["trials"]["template"], ElementsAre(0, 1));
    EXPECT_THAT(data["trials"]["problem"], ElementsAre(0, 0));
    EXPECT_EQ(data["devices"][0]["name"], device.name);
    EXPECT_GT(data["devices"][0]["peak_flops"], 1e13);
    EXPECT_EQ(data["problems"][0]["operations"], 2 * 64 * 32 * 16);
    EXPECT_EQ(data["problems"][0]["bytes"], 4 * (64 * 16 + 16 * 32 + 64 * 32));
    EXPECT_EQ(data["templates"][0]["name"], "naive");
    EXPECT_EQ(data["templates"][0]["baseline"], true);
    EXPECT_EQ(data["templates"][1]["baseline"], false);
    EXPECT_EQ(data["runs"][1]["request"]["sizes"], "64");
    EXPECT_EQ(data["unfinished"], false);
    EXPECT_FALSE(data.contains("against"));
}

TEST_F(PageData, TheWinnerIsTheStoredOneAndNotTheFastest) {
    const auto winner = trial("tiled", gemm(64, 64, 64), 5);
    trial("naive", gemm(64, 64, 64), 4);
    EXPECT_THAT(page()["winners"], IsEmpty());
    store.set_winner(winner.key, winner.configuration, {});
    EXPECT_THAT(page()["winners"], ElementsAre(0));
}

TEST_F(PageData, TheFastestTrialsAndTheWinnerHaveTheFactsOfTheirLaunches) {
    const auto winner = trial("naive", gemm(64, 64, 64), 1000);
    store.set_winner(winner.key, winner.configuration, {});
    int tried = 0;
    const auto& tiled = *std::ranges::find(templates, std::string("tiled"), &KernelTemplate::name);
    for (const auto& parameter : tiled.parameters) {
        for (const auto value : parameter.values) {
            Configuration changes;
            changes.values[parameter.name] = value;
            trial("tiled", gemm(64, 64, 64), 100 - tried++, changes);
        }
    }
    const auto launches = page()["launches"];
    EXPECT_LE(launches.size(), 8U);
    EXPECT_EQ(launches[0]["trial"], 0);
    EXPECT_EQ(launches[0]["block"][0].get<int>() * launches[0]["block"][1].get<int>(), 256);
    EXPECT_EQ(launches[0]["resident"], 4);  // a block needs 64 x 256 of the 65,536 registers, so four blocks fit
    EXPECT_EQ(launches[0]["limiter"], "registers");
    // The grid has 16 blocks, and each multiprocessor runs 4 of them at once.
    EXPECT_DOUBLE_EQ(launches[0]["waves"].get<double>(), 16 / (4.0 * static_cast<double>(device.multiprocessors)));
}

TEST_F(PageData, AnExhaustiveSearchHasAnExactImportanceAndAFewTrialsHaveNone) {
    const auto& tiled = *std::ranges::find(templates, std::string("joint_tiled"), &KernelTemplate::name);
    const auto problem = gemm(64, 64, 64);
    const ParameterSpace space(tiled.parameters, tiled.constraints, environment_of(tiled.operation, problem, device));
    for (std::size_t i = 0; i < space.size(); ++i) {
        trial("joint_tiled", problem, static_cast<double>(space[i].values.at("TSZ_ROWS")), space[i]);
    }
    trial("tiled", problem, 4);
    const auto found = page()["importance"];
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0]["exact"], true);
    EXPECT_EQ(found[0]["shares"][0]["name"], "TSZ_ROWS");
    EXPECT_NEAR(found[0]["shares"][0]["share"], 1, 1e-9);
    EXPECT_TRUE(found[1].contains("too_little"));
}

TEST_F(PageData, OnlyWhatTheFilterMatchesIsShown) {
    trial("naive", gemm(64, 64, 64), 9);
    trial("tiled", gemm(32, 32, 32), 4);
    const auto data = page({.filter = {.kernel_templates = {"tiled"}, .limit = 1}});
    EXPECT_THAT(data["templates"], SizeIs(1));
    EXPECT_EQ(data["problems"][0]["size"], "32x32x32");
}

TEST_F(PageData, WinnersOfBothDatabasesAreCompared) {
    trial("tiled", gemm(64, 64, 64), 5);
    trial("tiled", gemm(32, 32, 32), 5);
    Store other(scratch / "other.db");
    trial("naive", gemm(64, 64, 64), 10, {}, &other);
    trial("naive", gemm(16, 16, 16), 10, {}, &other);
    const auto against = page({.against = scratch / "other.db"})["against"];
    EXPECT_EQ(against["name"], "other.db");
    ASSERT_THAT(against["winners"], SizeIs(1));
    EXPECT_EQ(against["winners"][0]["problem"], "gemm f32 nn 64x64x64");
    EXPECT_EQ(against["winners"][0]["ours"]["us"], 5);
    EXPECT_EQ(against["winners"][0]["theirs"]["template"], "naive");
    EXPECT_THAT(against["winners"][0]["theirs"]["interval"], ElementsAre(10, 10));
    EXPECT_THROW(page({.against = scratch / "absent.db"}), StoreError);
}

TEST_F(PageData, TheTimesOfVendorLibrariesComeFromTheJsonOfBench) {
    trial("tiled", gemm(512, 512, 512), 5);
    const auto bench = read_text(SMEMTUNE_SOURCE_DIR "/bench/results/gemm-f32-h200.json");
    const auto data = page({.bench = bench})["bench"];
    EXPECT_EQ(data["device"], "NVIDIA H200");
    EXPECT_EQ(data["times"][0]["problem"], "gemm f32 nn 512x512x512");
    EXPECT_EQ(data["times"][0]["name"], "cublas");
    EXPECT_NEAR(data["times"][0]["ratio"], 1.395, 0.001);
    EXPECT_THROW(page({.bench = "{}"}), std::invalid_argument);
    EXPECT_THROW(page({.bench = "no JSON"}), std::invalid_argument);
}

TEST_F(PageData, AVendorLibraryThatCouldNotBeMeasuredIsLeftOut) {
    trial("tiled", gemm(512, 512, 512), 5);
    auto bench = nlohmann::json::parse(read_text(SMEMTUNE_SOURCE_DIR "/bench/results/gemm-f32-h200.json"));
    bench["problems"].erase(bench["problems"].begin() + 1, bench["problems"].end());
    auto& caches = bench["problems"][0]["caches"];
    for (auto& cache : caches) cache["against"] = {{"cublas", cache["against"]["cublas"]}};
    const auto before = page({.bench = bench.dump()})["bench"]["times"].size();
    for (auto& cache : caches) cache["against"]["cublasLt"] = {{"reason", "not installed"}};
    EXPECT_EQ(before, caches.size());
    EXPECT_THAT(page({.bench = bench.dump()})["bench"]["times"], SizeIs(before));
}

TEST_F(PageData, ATemplateWhoseRowIsDamagedLeavesItsTrialsVisible) {
    trial("tiled", gemm(64, 64, 64), 5);
    SQLite::Database(scratch / "page.db", SQLite::OPEN_READWRITE).exec("UPDATE templates SET hash = 'other'");
    const auto data = page();
    EXPECT_EQ(data["templates"][0]["name"], "template 1");
    EXPECT_THAT(data["trials"]["id"], SizeIs(1));
    EXPECT_THAT(data["launches"], IsEmpty());
}

}  // namespace

}  // namespace smemtune
