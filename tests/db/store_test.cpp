#include "db/store.h"

#include <functional>
#include <limits>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "db/file/file_state.h"
#include "db/file/schema.h"
#include "db/rows.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

class StoreTest : public ::testing::Test {
protected:
    Scratch scratch;
    std::filesystem::path path = scratch / "tuned.db";
    Store store{path};
    TrialKey key = key_in(store);
};

TEST_F(StoreTest, EveryFieldOfAMeasurementComesBack) {
    auto trial = measured(key, {{{"TSZ_ROWS", 64}, {"TSZ_COLS", 16}, {"PAD", -1}}}, 1.0 / 3);
    std::get<Measurement>(trial.outcome).cut_short = true;
    trial.run = store.start_run({R"({"sizes":"512"})", R"({"samples":20})", R"({"smemtune":"0.1"})"});
    trial.code_hash = "of the code";
    trial.toolchain = "nvrtc 13.0";
    trial.attempts = 2;
    store.remember(trial);
    EXPECT_EQ(store.recall(key, trial.configuration), trial);
    EXPECT_EQ(Store(path, Store::Access::read).recall(key, trial.configuration), trial);
}

TEST_F(StoreTest, AnEnergyThatIsUnknownComesBackAsUnknownAndIsNoNumberToPlainSql) {
    auto trial = measured(key, tile(16), 5);
    std::get<Measurement>(trial.outcome).energy_uj = 0;
    store.remember(trial);
    EXPECT_EQ(store.recall(key, tile(16)), trial);
    EXPECT_EQ(value_of(path, "SELECT count(energy_uj) FROM trials"), "0");
    store.remember(rejected(key, tile(16), Stage::wrong));
    EXPECT_EQ(store.recall(key, tile(16)), rejected(key, tile(16), Stage::wrong));
}

TEST_F(StoreTest, ATemplateWithTheSameCodeAndANewManifestKeepsItsNumberAndGetsTheNewFiles) {
    TemplateRecord made{"made", "gemm", "hash of made", {{"made.cu", "code"}, {"made.toml", "values = [1]"}}};
    const auto id = store.remember(made);
    made.files["made.toml"] = "values = [1, 2]";
    EXPECT_EQ(store.remember(made), id);
    EXPECT_EQ(store.recall_template(id), made);
}

TEST_F(StoreTest, EveryStageOfARejectionComesBackWithItsReason) {
    int width = 0;
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        auto trial = rejected(key, tile(++width), stage);
        std::get<Rejection>(trial.outcome).reason = "it's \"broken\";\nline 2: \xff\xfe not UTF-8 --";
        store.remember(trial);
        EXPECT_EQ(store.recall(key, trial.configuration), trial) << to_text(stage);
    }
}

TEST_F(StoreTest, ATrialWithoutSamplesOrParametersIsStillATrial) {
    auto trial = measured(key, {}, 0);
    std::get<Measurement>(trial.outcome).samples_us.clear();
    store.remember(trial);
    EXPECT_EQ(store.recall(key, {}), trial);
}

TEST_F(StoreTest, RecallsNothingOfWhatWasNeverTried) {
    store.remember(measured(key, tile(16), 5));
    EXPECT_EQ(store.recall(key, tile(32)), std::nullopt);
    auto other = key;
    other.problem = store.remember(gemm(513, 512, 512));
    EXPECT_EQ(store.recall(other, tile(16)), std::nullopt);
    EXPECT_TRUE(store.trials(other).empty());
    EXPECT_EQ(store.best(key.device, other.problem), std::nullopt);
    EXPECT_EQ(store.recall_template(999), std::nullopt);
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_90a"), std::nullopt);
}

TEST_F(StoreTest, ATrialTriedAgainReplacesTheEarlierOne) {
    store.remember(rejected(key, tile(16), Stage::timeout));
    store.remember(measured(key, tile(16), 5));
    EXPECT_EQ(store.trials(key), std::vector{measured(key, tile(16), 5)});
    store.remember(rejected(key, tile(16), Stage::wrong));
    EXPECT_EQ(store.trials(key), std::vector{rejected(key, tile(16), Stage::wrong)});
}

// Another process may measure the same configuration at the same time, and stop verifying after the first check.
TEST_F(StoreTest, AMeasurementThatWasNotVerifiedDoesNotReplaceOneOfTheSameCodeThatWas) {
    const auto verified = with_code(measured(key, tile(16), 5), {1});
    store.set_winner(verified, {key.kernel_template, tile(16), "sm_90a", "NVRTC", {1}, {}});
    auto unverified = with_code(measured(key, tile(16), 4), {1});
    unverified.verified_by.clear();
    auto cut_short = with_code(measured(key, tile(16), 4), {1});
    std::get<Measurement>(cut_short.outcome).cut_short = true;
    for (const auto& weaker : {unverified, cut_short}) {
        store.remember(weaker);
        EXPECT_EQ(store.recall(key, tile(16)), verified);
        EXPECT_TRUE(store.best(key.device, key.problem)->winner);
    }
    const auto again = with_code(measured(key, tile(16), 6), {1});
    store.remember(again);
    EXPECT_EQ(store.recall(key, tile(16)), again) << "verified once more";
    store.remember(rejected(key, tile(16), Stage::wrong));
    EXPECT_EQ(store.recall(key, tile(16)), rejected(key, tile(16), Stage::wrong)) << "it is wrong now and then";
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
}

TEST_F(StoreTest, AMeasurementReplacesOneThatIsNoStronger) {
    const auto unverified = [&](double us, const std::vector<std::uint8_t>& code) {
        auto trial = measured(key, tile(16), us);
        trial.verified_by.clear();
        return code.empty() ? trial : with_code(trial, code);
    };
    store.remember(with_code(measured(key, tile(16), 5), {1}));
    store.remember(unverified(4, {2}));
    EXPECT_EQ(store.recall(key, tile(16)), unverified(4, {2})) << "of other code";
    store.remember(unverified(3, {2}));
    EXPECT_EQ(store.recall(key, tile(16)), unverified(3, {2})) << "neither was verified";
    store.remember(measured(key, tile(16), 5));
    store.remember(unverified(2, {}));
    EXPECT_EQ(store.recall(key, tile(16)), unverified(2, {})) << "it is unknown whether the code is the same";
}

TEST_F(StoreTest, TrialsComeOldestFirst) {
    for (const int width : {32, 8, 16}) store.remember(measured(key, tile(width), width));
    EXPECT_EQ(store.trials(key),
              (std::vector{measured(key, tile(32), 32), measured(key, tile(8), 8), measured(key, tile(16), 16)}));
}

TEST_F(StoreTest, TheSameContentHasTheSameNumberAndOtherContentAnother) {
    EXPECT_EQ(key_in(store), key);
    Store second(path);
    EXPECT_EQ(key_in(second), key);

    for (const auto& field : device_fields()) {
        auto other = model_device("sm_90");
        other.*field.member += 1;
        EXPECT_NE(store.remember(other), key.device) << field.name;
    }
    auto edited = tiled();
    edited.hash = "another";
    EXPECT_NE(store.remember(edited), key.kernel_template);
    EXPECT_NE(store.remember(gemm(512, 512, 512, "tf32")), key.problem);
    EXPECT_NE(store.remember(gemm(512, 512, 512, "f32", "nt")), key.problem);
    EXPECT_NE(store.remember(Problem{"gemm", "f32", "nn", {{"N", 512}, {"M", 512}, {"K", 512}}}), key.problem);
}

TEST_F(StoreTest, FindsWhatItKnowsAndAddsNothing) {
    EXPECT_EQ(store.find(model_device("sm_90")), key.device);
    EXPECT_EQ(store.find(gemm(512, 512, 512)), key.problem);
    EXPECT_EQ(store.find(model_device("sm_80")), std::nullopt);
    EXPECT_EQ(store.find(gemm(1, 2, 3)), std::nullopt);
    EXPECT_EQ(store.summary().devices, 1);
    EXPECT_EQ(store.summary().problems, 1);
}

TEST_F(StoreTest, ATemplateComesBackWithItsFiles) { EXPECT_EQ(store.recall_template(key.kernel_template), tiled()); }

TEST_F(StoreTest, TheFastestIsBestUntilOneIsCrowned) {
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
    store.remember(rejected(key, tile(64), Stage::limits));
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(key, tile(32), 5));

    const auto fastest = store.best(key.device, key.problem).value();
    EXPECT_EQ(fastest.record, measured(key, tile(32), 5));
    EXPECT_FALSE(fastest.winner);

    store.set_winner(key, tile(16), {});
    const auto winner = store.best(key.device, key.problem).value();
    EXPECT_EQ(winner.record, measured(key, tile(16), 7));
    EXPECT_TRUE(winner.winner);
    EXPECT_EQ(winner.device, "sm_90");
    EXPECT_EQ(winner.kernel_template, "tiled");
    EXPECT_EQ(winner.template_hash, "hash of tiled");
    EXPECT_EQ(winner.problem, gemm(512, 512, 512));
    EXPECT_EQ(winner.finished_at.size(), std::string("2026-01-02T03:04:05.678Z").size());

    store.set_winner(key, tile(32), {});
    EXPECT_EQ(store.best(key.device, key.problem)->record.configuration, tile(32));
}

TEST_F(StoreTest, TheBestIsOverAllTemplates) {
    auto naive = key;
    naive.kernel_template = store.remember(TemplateRecord{"naive", "gemm", "hash of naive", {}});
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(naive, tile(16), 3));
    EXPECT_EQ(store.best(key.device, key.problem)->kernel_template, "naive");
    store.set_winner(key, tile(16), {});
    store.set_winner(naive, tile(16), {});
    EXPECT_EQ(store.best(key.device, key.problem)->kernel_template, "naive");
    store.forget(naive);
    EXPECT_EQ(store.best(key.device, key.problem)->kernel_template, "tiled");
}

TEST_F(StoreTest, EachDeviceAndProblemHasItsOwnBest) {
    const auto larger = key_in(store, 1024);
    const auto older = key_in(store, 512, "sm_80");
    auto transposed = key;
    transposed.problem = store.remember(gemm(512, 512, 512, "f32", "nt"));
    store.remember(measured(key, tile(16), 1));
    store.remember(measured(larger, tile(8), 2));
    store.remember(measured(older, tile(4), 3));
    store.remember(measured(transposed, tile(2), 4));
    store.set_winner(older, tile(4), {});

    EXPECT_EQ(store.best(key.device, key.problem)->record.configuration, tile(16));
    EXPECT_EQ(store.best(older.device, key.problem)->record.configuration, tile(4));
    EXPECT_EQ(store.best(older.device, larger.problem), std::nullopt);

    const auto known = store.best_of(key.device, "gemm", "f32", "nn");
    ASSERT_EQ(known.size(), 2u);
    EXPECT_EQ(known[0].record, measured(key, tile(16), 1));
    EXPECT_EQ(known[1].record, measured(larger, tile(8), 2));
    EXPECT_EQ(store.best_of(key.device, "gemm", "f32", "nt").size(), 1u);
    EXPECT_TRUE(store.best_of(key.device, "gemm", "tf32", "nn").empty());
    EXPECT_TRUE(store.best_of(key.device, "transpose", "f32", "nn").empty());
    EXPECT_EQ(store.best_of(older.device, "gemm", "f32", "nn").size(), 1u);
}

TEST_F(StoreTest, TheBestOfOneTemplateIsTheWinnerOrElseItsFastest) {
    const auto larger = key_in(store, 1024);
    auto naive = key;
    naive.kernel_template = store.remember(TemplateRecord{"naive", "gemm", "hash of naive", {}});
    store.remember(rejected(naive, tile(2), Stage::launch));
    store.remember(measured(naive, tile(8), 20));
    store.remember(measured(naive, tile(4), 30));
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(larger, tile(16), 50));
    store.set_winner(naive, tile(4), {});

    const auto of_naive = store.best_of(key.device, "gemm", "f32", "nn", "naive");
    ASSERT_EQ(of_naive.size(), 1u);
    EXPECT_EQ(of_naive[0].record, measured(naive, tile(4), 30));
    EXPECT_TRUE(of_naive[0].winner);
    EXPECT_EQ(store.best(key.device, key.problem, "naive", {})->record, of_naive[0].record);
    EXPECT_EQ(store.best_of(key.device, "gemm", "f32", "nn", "tiled").size(), 2u);
    store.set_winner(key, tile(16), {});
    EXPECT_EQ(store.best_of(key.device, "gemm", "f32", "nn", "naive")[0].record, measured(naive, tile(8), 20));
    EXPECT_EQ(store.best(key.device, key.problem, "naive", {})->record, measured(naive, tile(8), 20));
    EXPECT_TRUE(store.best_of(key.device, "gemm", "f32", "nn", "nai").empty()) << "a name, not a part of one";
}

TEST_F(StoreTest, TheBestOfOneTemplateIsOfOneVersionWhereOneIsNamed) {
    auto edited = key;
    edited.kernel_template = store.remember(TemplateRecord{"tiled", "gemm", "hash of the edited one", {}});
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(edited, tile(8), 20));
    const auto best = [&](const std::vector<std::string>& hashes) {
        const auto found = store.best_of(key.device, "gemm", "f32", "nn", "tiled", hashes);
        return found.empty() ? Configuration{} : found.front().record.configuration;
    };
    EXPECT_EQ(best({}), tile(16));
    EXPECT_EQ(best({"hash of the edited one"}), tile(8));
    EXPECT_EQ(best({"hash of the edited one", "hash of tiled"}), tile(16));
    EXPECT_EQ(best({"of no version"}), Configuration{});
}

TEST_F(StoreTest, OnlyAMeasuredTrialIsCrowned) {
    store.remember(measured(key, tile(16), 7));
    store.set_winner(key, tile(16), {});
    store.remember(rejected(key, tile(64), Stage::wrong));
    for (const int width : {64, 999}) {
        const auto error = error_of([&] { store.set_winner(key, tile(width), {}); });
        EXPECT_NE(error.find("no completely measured and verified trial of TILE_WIDTH=" + std::to_string(width)),
                  std::string::npos)
            << error;
    }
    EXPECT_EQ(store.best(key.device, key.problem)->record.configuration, tile(16)) << "the earlier winner stays";
}

TEST_F(StoreTest, AWinnerMeasuredAgainKeepsItsCrownAndOneRejectedLosesIt) {
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(key, tile(32), 5));
    store.set_winner(key, tile(16), {});
    store.remember(measured(key, tile(16), 8));
    EXPECT_EQ(store.best(key.device, key.problem)->record, measured(key, tile(16), 8));
    store.remember(rejected(key, tile(16), Stage::wrong));
    EXPECT_EQ(store.best(key.device, key.problem)->record, measured(key, tile(32), 5));
}

TEST_F(StoreTest, ForgettingTakesTheTrialsOfTheKeyAndTheirCrown) {
    const auto larger = key_in(store, 1024);
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(larger, tile(16), 7));
    store.set_winner(key, tile(16), {});
    store.set_winner(larger, tile(16), {});
    store.forget(key);
    EXPECT_TRUE(store.trials(key).empty());
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
    EXPECT_TRUE(store.best(larger.device, larger.problem)->winner);
    store.remember(measured(key, tile(8), 9));
    EXPECT_FALSE(store.best(key.device, key.problem)->winner);
}

TEST_F(StoreTest, TheWinnersMachineCodeComesBackByteForByte) {
    BinaryRecord binary{
        .kernel_template = key.kernel_template,
        .configuration = tile(16),
        .target = "sm_90a",
        .compiler = "NVRTC 13.0 --use_fast_math",
        .code = {0x7f, 'E', 'L', 'F', 0, 0xff, 0, 1},
        .resources = {.registers = 128, .spill_bytes = 4, .static_shared_bytes = 1, .dynamic_shared_bytes = 2}};
    const auto trial = measured(key, tile(16), 7);
    store.set_winner(with_code(trial, binary.code), binary);
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_90a"), binary);
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_80"), std::nullopt);

    binary.code = {1, 2, 3};
    binary.compiler = "NVRTC 13.1";
    store.set_winner(with_code(trial, binary.code), binary);
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_90a"), binary);
    EXPECT_EQ(store.summary().binaries, 1);
}

TEST_F(StoreTest, MachineCodeIsFoundByTheContentOfItsTemplate) {
    auto other = tiled();
    other.hash = "of another version";
    const auto row = store.remember(other);
    const auto code_of = [&](std::int64_t kernel_template, std::uint8_t byte) {
        auto at = key;
        at.kernel_template = kernel_template;
        BinaryRecord binary{kernel_template, tile(16), "sm_90a", "NVRTC", {byte}, {}};
        store.set_winner(with_code(measured(at, tile(16), 7), binary.code), binary);
        return binary;
    };
    const auto first = code_of(key.kernel_template, 1);
    const auto second = code_of(row, 2);
    EXPECT_EQ(store.recall_binary("tiled", tiled().hash, tile(16), "sm_90a"), first);
    EXPECT_EQ(store.recall_binary("tiled", other.hash, tile(16), "sm_90a"), second);
    EXPECT_EQ(store.recall_binary("tiled", "of none", tile(16), "sm_90a"), std::nullopt);
    EXPECT_EQ(store.recall_binary("other", other.hash, tile(16), "sm_90a"), std::nullopt);
    EXPECT_EQ(store.recall_binary("tiled", other.hash, tile(8), "sm_90a"), std::nullopt);
    EXPECT_EQ(store.recall_binary("tiled", other.hash, tile(16), "sm_80"), std::nullopt);
    execute(path, "UPDATE binaries SET code = x'03' WHERE template = " + std::to_string(row));
    EXPECT_THROW((void)store.recall_binary("tiled", other.hash, tile(16), "sm_90a"), DamagedRow);
}

TEST_F(StoreTest, ACrownWithABinaryThatIsRefusedIsNoCrown) {
    const BinaryRecord without_code{
        .kernel_template = key.kernel_template, .configuration = tile(16), .target = "sm_90a"};
    EXPECT_THROW(store.set_winner(with_code(measured(key, tile(16), 7), {}), without_code), StoreError);
    EXPECT_EQ(store.recall(key, tile(16)), std::nullopt);
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
}

TEST_F(StoreTest, TheMachineCodeOfAWinnerIsTheCodeThatWasVerified) {
    const BinaryRecord binary{
        .kernel_template = key.kernel_template, .configuration = tile(16), .target = "sm_90a", .code = {1, 2}};
    for (const auto& trial : {measured(key, tile(16), 7), with_code(measured(key, tile(16), 7), {1, 3})}) {
        const auto error = error_of([&] { store.set_winner(trial, binary); });
        EXPECT_NE(error.find("is not the code that was verified"), std::string::npos) << error;
    }
    EXPECT_EQ(store.summary().binaries, 0);
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
}

// The machine code of a configuration is stored only once, for all problems.
TEST_F(StoreTest, ATrialWhoseMachineCodeIsReplacedWasNotVerifiedWithTheNewOne) {
    const auto larger = key_in(store, 1024);
    BinaryRecord binary{
        .kernel_template = key.kernel_template, .configuration = tile(16), .target = "sm_90a", .code = {1}};
    const auto before = with_code(measured(key, tile(16), 7), binary.code);
    store.set_winner(before, binary);
    store.set_winner(with_code(measured(larger, tile(16), 50), binary.code), binary);
    EXPECT_EQ(store.recall(key, tile(16)), before) << "the same code";
    binary.code = {2};
    const auto after = with_code(measured(larger, tile(16), 50), binary.code);
    store.set_winner(after, binary);
    EXPECT_EQ(store.recall(key, tile(16))->verified_by, unrecorded);
    EXPECT_EQ(store.recall(larger, tile(16)), after);
    EXPECT_TRUE(store.best(key.device, key.problem)->winner) << "it still counts";
}

// Tests with two kinds of trials that may be wrong: one that was never verified, and one that was cut short after the
// first check.
class UnverifiedTest : public StoreTest {
protected:
    void SetUp() override {
        auto cut_short = measured(key, tile(8), 1);
        std::get<Measurement>(cut_short.outcome).cut_short = true;
        auto never_verified = measured(key, tile(16), 2);
        never_verified.verified_by.clear();
        unverified = {cut_short, never_verified};
        for (const auto& trial : unverified) store.remember(trial);
    }
    [[nodiscard]] std::vector<TrialRow> best_of(const std::string& name) const {
        return store.best_of(key.device, "gemm", "f32", "nn", name);
    }

    std::vector<TrialRecord> unverified;
};

TEST_F(UnverifiedTest, IsNeverTheBestByAnyQuery) {
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
    EXPECT_EQ(store.fastest(key.device, key.problem), std::nullopt);
    EXPECT_EQ(store.best_us(key.device, key.problem, "tiled"), std::nullopt);
    EXPECT_TRUE(best_of("").empty());
    EXPECT_TRUE(best_of("tiled").empty());
    EXPECT_TRUE(store.rows({.best_only = true}).empty());
    EXPECT_EQ(store.trials(key).size(), 2U) << "but known";
    const auto right = measured(key, tile(32), 3);
    store.remember(right);
    EXPECT_EQ(store.best(key.device, key.problem)->record, right);
    EXPECT_EQ(store.fastest(key.device, key.problem)->record, right);
    EXPECT_EQ(store.best_us(key.device, key.problem, "tiled"), 3);
    for (const std::string name : {"", "tiled"}) {
        ASSERT_EQ(best_of(name).size(), 1U);
        EXPECT_EQ(best_of(name).front().record, right);
    }
    EXPECT_EQ(store.rows({.best_only = true}).at(0).record, right);
    EXPECT_EQ(value_of(path, "SELECT group_concat(configuration) FROM best"), "TILE_WIDTH=32");
}

TEST_F(UnverifiedTest, CanNeitherWinNorStayTheWinner) {
    const auto right = measured(key, tile(32), 3);
    store.remember(right);
    for (const auto& trial : unverified) {
        EXPECT_NE(error_of([&] {
                      store.set_winner(key, trial.configuration, {});
                  }).find("holds no completely measured and verified trial of " + to_text(trial.configuration)),
                  std::string::npos);
        const auto id = "(SELECT id FROM trials WHERE configuration = '" + to_text(trial.configuration) + "')";
        EXPECT_THROW(execute(path, "INSERT INTO winners VALUES (1, 1, " + id + ", '2025-01-01T00:00:00Z')"),
                     SQLite::Exception);
        store.set_winner(key, right.configuration, {});
        EXPECT_THROW(execute(path, "UPDATE winners SET trial = " + id), SQLite::Exception);
        auto again = trial;
        again.configuration = right.configuration;
        store.remember(again);
        EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
        store.remember(right);
    }
}

TEST_F(StoreTest, WhatBreaksTheRulesIsRefusedAndNothingIsStored) {
    auto unknown = key;
    unknown.device = 12345;
    const auto error = error_of([&] { store.remember(measured(unknown, tile(16), 1)); });
    EXPECT_NE(error.find("FOREIGN KEY"), std::string::npos) << error;
    for (const double time :
         {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(store.remember(measured(key, tile(16), time)), std::invalid_argument);
    }
    EXPECT_THROW(store.start_run({.request = "not JSON", .policy = "", .versions = ""}), StoreError);
    EXPECT_THROW(store.remember(TemplateRecord{"name", "gemm", "", {}}), StoreError);
    EXPECT_EQ(store.summary().measured + store.summary().rejected + store.summary().runs, 0);
    store.remember(measured(key, tile(16), 1));
    EXPECT_EQ(store.summary().measured, 1) << "the store serves on after an error";
}

TEST_F(StoreTest, FiltersAreWholeNamesInAnyCaseOrPatterns) {
    const auto older = key_in(store, 1024, "sm_80");
    auto naive = key;
    naive.kernel_template = store.remember(TemplateRecord{"naive", "gemm", "hash of naive", {}});
    store.remember(rejected(key, tile(64), Stage::limits));
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(naive, tile(16), 9));
    store.remember(measured(older, tile(16), 3));

    const auto count = [&](const Store::Filter& filter) { return store.rows(filter).size(); };
    EXPECT_EQ(count({}), 4u);
    EXPECT_EQ(count({.devices = {"SM_80"}}), 1u);
    EXPECT_EQ(count({.devices = {"80"}}), 0u) << "a part of a name";
    EXPECT_EQ(count({.devices = {"*80"}}), 1u);
    EXPECT_EQ(count({.devices = {"sm_80", "sm_90"}}), 4u) << "one of several";
    EXPECT_EQ(count({.kernel_templates = {"tile"}}), 0u);
    EXPECT_EQ(count({.kernel_templates = {"tile*"}}), 3u);
    EXPECT_EQ(count({.sizes = {"512x512x512"}}), 3u);
    EXPECT_EQ(count({.sizes = {"512"}}), 0u);
    EXPECT_EQ(count({.sizes = {"1024x*"}}), 1u);
    EXPECT_EQ(count({.operations = {"transpose"}}), 0u);
    EXPECT_EQ(count({.devices = {"sm%"}}), 0u) << "SQL's wildcards are letters here";
    EXPECT_EQ(count({.devices = {"sm-80"}}), 0u);
    EXPECT_EQ(count({.kernel_templates = {"____*"}}), 0u);
    EXPECT_EQ(count({.rejected_only = true}), 1u);
    EXPECT_EQ(count({.best_only = true}), 2u);
    EXPECT_EQ(count({.devices = {"sm_90"}, .kernel_templates = {"naive"}, .best_only = true}), 0u)
        << "tiled is best there";

    const auto rows = store.rows({.devices = {"sm_90"}});
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].record, measured(key, tile(16), 7)) << "fastest first";
    EXPECT_EQ(rows[2].record, rejected(key, tile(64), Stage::limits)) << "rejected last";
}

TEST_F(StoreTest, RowsAreLimitedSortedAndCounted) {
    store.remember(measured(key, tile(8), 9));
    store.remember(rejected(key, tile(64), Stage::limits));
    store.remember(measured(key, tile(16), 7));
    using Sort = Store::Filter::Sort;
    const auto ids = [&](Sort sort, std::optional<std::size_t> limit = {}) {
        std::vector<std::int64_t> found;
        for (const auto& row : store.rows({.sort = sort, .limit = limit})) found.push_back(row.id);
        return found;
    };
    using Ids = std::vector<std::int64_t>;
    EXPECT_EQ(ids(Sort::time), (Ids{3, 1, 2}));
    EXPECT_EQ(ids(Sort::id), (Ids{1, 2, 3}));
    EXPECT_EQ(ids(Sort::id, 2), (Ids{1, 2}));
    EXPECT_EQ(store.count({.limit = 2}), 3u) << "without the limit";
    EXPECT_EQ(store.count({.rejected_only = true}), 1u);
}

TEST_F(StoreTest, TheInventoryCountsByDeviceTemplateAndProblem) {
    const auto older = key_in(store, 1024, "sm_80");
    store.remember(gemm(2048, 2048, 2048));
    store.remember(measured(key, tile(8), 9));
    store.remember(rejected(key, tile(64), Stage::limits));
    store.remember(measured(older, tile(16), 7));
    store.set_winner(key, tile(8), std::nullopt);
    const auto all = store.inventory({});
    ASSERT_EQ(all.devices.size(), 2u);
    EXPECT_EQ(all.devices[1].name, "sm_90");
    EXPECT_EQ(all.devices[1].measured, 1);
    EXPECT_EQ(all.devices[1].rejected, 1);
    EXPECT_EQ(all.devices[1].winners, 1);
    EXPECT_EQ(all.devices[1].first_at, store.row(1)->finished_at);
    ASSERT_EQ(all.problems.size(), 2u) << "2048 has no trial";
    EXPECT_EQ(all.problems[0].name, "gemm f32 nn 512x512x512");
    EXPECT_EQ(store.inventory({.devices = {"*80"}}).problems.size(), 1u);
    EXPECT_TRUE(store.inventory({.kernel_templates = {"none"}}).templates.empty());
}

TEST_F(StoreTest, TrialsOfATemplateAreCountedByItsVersion) {
    store.remember(measured(key, tile(8), 9));
    store.remember(measured(key, tile(16), 7));
    const auto [row, device] = store.devices().front();
    const auto kernel = *store.recall_template(key.kernel_template);
    EXPECT_EQ(store.count(device, kernel.name, kernel.hash, store.row(1)->problem), 2u);
    EXPECT_EQ(store.count(device, kernel.name, "another hash", store.row(1)->problem), 0u);
    EXPECT_EQ(store.count(model_device("sm_75"), kernel.name, kernel.hash, store.row(1)->problem), 0u);
    EXPECT_EQ(store.best_us(key.device, key.problem, kernel.name), 7);
    EXPECT_EQ(store.fastest(key.device, key.problem)->id, 2);
}

TEST_F(StoreTest, ARunIsReadWithItsEnd) {
    const auto run = store.start_run({R"({"sizes":"512"})", "", R"({"smemtune":"0.1"})"});
    ASSERT_TRUE(store.recall_run(run));
    EXPECT_EQ(store.recall_run(run)->how, "") << "it goes on";
    store.finish_run(run, "budget");
    const auto ended = *store.recall_run(run);
    EXPECT_EQ(ended.record.request, R"({"sizes":"512"})");
    EXPECT_EQ(ended.how, "budget");
    EXPECT_GE(ended.finished_at, ended.started_at);
    EXPECT_FALSE(store.recall_run(run + 1));
}

TEST_F(StoreTest, OneTrialIsFoundByItsNumber) {
    for (const int width : {8, 16}) store.remember(measured(key, tile(width), width));
    for (const auto& each : store.rows({})) {
        const auto row = store.row(each.id);
        ASSERT_TRUE(row.has_value());
        EXPECT_EQ(row->record, each.record);
        EXPECT_EQ(row->kernel_template, "tiled");
    }
    EXPECT_FALSE(store.row(3).has_value());
}

TEST_F(StoreTest, TheSummaryCounts) {
    store.remember(measured(key, tile(16), 7));
    store.remember(rejected(key, tile(32), Stage::limits));
    store.remember(rejected(key, tile(64), Stage::limits));
    store.finish_run(store.start_run({}), "complete");
    const auto summary = store.summary();
    EXPECT_EQ(summary.path, path);
    EXPECT_EQ(summary.schema_version, static_cast<int>(migrations().size()));
    EXPECT_EQ(summary.devices, 1);
    EXPECT_EQ(summary.templates, 1);
    EXPECT_EQ(summary.problems, 1);
    EXPECT_EQ(summary.measured, 1);
    EXPECT_EQ(summary.rejected, 2);
    EXPECT_EQ(summary.runs, 1);
    EXPECT_EQ(summary.binaries, 0);
}

TEST_F(StoreTest, ARunSaysHowItEnded) {
    const auto ended = store.start_run({}), killed = store.start_run({});
    store.finish_run(ended, "interrupted");
    SQLite::Database plain(path);
    SQLite::Statement query(plain, "SELECT how, finished_at >= started_at FROM runs WHERE id = ?");
    query.bind(1, ended);
    ASSERT_TRUE(query.executeStep());
    EXPECT_EQ(query.getColumn(0).getString(), "interrupted");
    EXPECT_EQ(query.getColumn(1).getInt(), 1);
    query.reset();
    query.bind(1, killed);
    ASSERT_TRUE(query.executeStep());
    EXPECT_TRUE(query.isColumnNull(0));
    EXPECT_TRUE(query.isColumnNull(1));
}

TEST_F(StoreTest, TheViewBestIsReadWithPlainSqlite) {
    const auto larger = key_in(store, 1024);
    store.remember(measured(key, tile(16), 7));
    store.remember(measured(key, tile(32), 5));
    store.remember(measured(larger, tile(32), 50));
    store.set_winner(key, tile(16), {});
    SQLite::Database plain(path);
    SQLite::Statement query(
        plain,
        "SELECT device, operation, type, layout, size, template, configuration, time_us, spread_us, "
        "samples, registers, shared_bytes, decided, since FROM best");
    std::vector<std::string> lines;
    while (query.executeStep()) {
        lines.emplace_back();
        for (int column = 0; column < 13; ++column) lines.back() += query.getColumn(column).getString() + " ";
        EXPECT_TRUE(query.getColumn(13).getString().ends_with("Z"));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{
                         "sm_90 gemm f32 nn 512x512x512 tiled TILE_WIDTH=16 7.0 1.0 3 40 2560 yes ",
                         "sm_90 gemm f32 nn 1024x1024x1024 tiled TILE_WIDTH=32 50.0 7.14285714285714 3 40 2560 no "}));
}

TEST_F(StoreTest, AnotherStoreSeesATrialAtOnce) {
    const Store reader(path, Store::Access::read);
    store.remember(measured(key, tile(16), 7));
    EXPECT_EQ(reader.recall(key, tile(16)), measured(key, tile(16), 7));
}

TEST_F(StoreTest, DevicesAndAProblemAreReadTogetherAsByTwoCalls) {
    const Store reader(path, Store::Access::read);
    for (const auto& problem : {gemm(512, 512, 512), gemm(7, 7, 7)}) {
        const auto known = reader.known(problem);
        EXPECT_EQ(known.devices, reader.devices());
        EXPECT_EQ(known.problem, reader.find(problem));
    }
    const auto added = store.remember(gemm(7, 7, 7));  // `reader` sees the new row only if it has no open transaction
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, added);
}

// Sets the time of the file's last write to one hour ago.
void write_an_hour_ago(const std::filesystem::path& file) {
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

// After some lookups in a file that nobody writes, a Store opened for reading answers from memory. The test locks the
// file, so a query of the file would fail.
TEST_F(StoreTest, AFileThatNobodyWritesIsLookedUpInMemoryUntilItChanges) {
    const auto file = scratch / "rollback.db";
    const StoreOptions options{.patience = std::chrono::milliseconds(0), .rollback_journal = true};
    Store writer(file, Store::Access::write, options);
    const auto row = writer.remember(gemm(7, 7, 7));
    writer.remember(model_device("sm_90"));
    const Store reader(file, Store::Access::read, options);
    write_an_hour_ago(file);
    for (int lookup = 0; lookup < 4; ++lookup) EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, row);
    {
        SQLite::Database locking(file.string(), SQLite::OPEN_READWRITE);
        locking.exec("BEGIN EXCLUSIVE");
        EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, row);
        EXPECT_EQ(reader.known(gemm(7, 7, 8)).problem, std::nullopt);
        EXPECT_EQ(reader.known(gemm(7, 7, 8)).devices.size(), 1U);
        EXPECT_THROW(static_cast<void>(reader.find(gemm(7, 7, 7))), StoreError);
    }
    const auto added = writer.remember(gemm(7, 7, 8));
    EXPECT_EQ(reader.known(gemm(7, 7, 8)).problem, added) << "at once, although the change is not settled";
    std::filesystem::rename(path, file);
    EXPECT_EQ(reader.known(gemm(7, 7, 8)).problem, std::nullopt) << "another file in its place";
}

TEST_F(StoreTest, AFileWithoutAPathIsNotLookedUpInMemory) {
    const Store reader(path, Store::Access::read);
    std::filesystem::rename(path, scratch / "elsewhere");
    for (int lookup = 0; lookup < 9; ++lookup) EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, std::nullopt);
    const auto added = store.remember(gemm(7, 7, 7));
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, added);
}

TEST_F(StoreTest, ADamagedProblemIsNoMatterForLookupsOfOthers) {
    const auto row = store.remember(gemm(7, 7, 7));
    store.remember(gemm(7, 7, 8));
    execute(path, R"(UPDATE problems SET extents = '{"M":"seven"}' WHERE id = 3)");
    write_an_hour_ago(path);
    write_an_hour_ago(path.string() + "-wal");
    const Store reader(path, Store::Access::read);
    for (int lookup = 0; lookup < 9; ++lookup) EXPECT_EQ(reader.known(gemm(7, 7, 7)).problem, row);
}

TEST_F(StoreTest, ADatabaseWithManyProblemsIsNotReadIntoMemory) {
    const auto file = scratch / "many.db";
    const StoreOptions options{.patience = std::chrono::milliseconds(0), .rollback_journal = true};
    Store(file, Store::Access::write, options).remember(model_device("sm_90"));
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec("BEGIN");
    SQLite::Statement insert(database,
                             "INSERT INTO problems (operation, type, layout, extents, size) VALUES "
                             "('gemm', 'f32', 'nn', json_object('M', ?, 'N', 1, 'K', 1), '')");
    for (int m = 1; m <= 4097; ++m) {
        insert.bind(1, m);
        insert.exec();
        insert.reset();
    }
    database.exec("COMMIT");
    const Store reader(file, Store::Access::read, options);
    write_an_hour_ago(file);
    for (int lookup = 0; lookup < 2100; ++lookup) EXPECT_EQ(reader.known(gemm(4097, 1, 1)).problem, 4097);
    database.exec("BEGIN EXCLUSIVE");
    EXPECT_THROW(static_cast<void>(reader.known(gemm(4097, 1, 1))), StoreError);
}

TEST_F(StoreTest, ADeviceThatAnotherStoreAddsIsSeenAtTheNextQuestion) {
    const Store reader(path, Store::Access::read);
    ASSERT_EQ(reader.known(gemm(7, 7, 7)).devices.size(), 1U);
    auto second = model_device("sm_90");
    second.name = "another one";
    const auto added = store.remember(second);
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).devices.back(), (std::pair{added, second}));
    EXPECT_EQ(reader.devices().size(), 2U);
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE devices SET name = 'renamed' WHERE id = 1");
    EXPECT_EQ(reader.devices().front().second.name, "renamed");
    EXPECT_EQ(store.devices().front().second.name, "renamed");
}

TEST_F(StoreTest, AnExtentOfAnyNameIsFound) {
    EXPECT_EQ(extents_json(gemm(1, -2, 3)), R"({"M":1,"N":-2,"K":3})");
    EXPECT_EQ(extents_json({"any", "f32", "", {{"a\"b", 1}, {"N", 2}}}), R"({"a\"b":1,"N":2})");
    EXPECT_EQ(extents_json({"any", "f32", "", {}}), "{}");
    for (const auto* name : {"K", "k_1", "a b", "a\"b", "\\", "\xc3\xa9", ""}) {
        const Problem problem{"any", "f32", "", {{name, 3}, {"N", 4}}};
        const auto id = store.remember(problem);
        EXPECT_EQ(store.find(problem), id) << name;
        EXPECT_EQ(SQLite::Database(path.string())
                      .execAndGet("SELECT value FROM problems, json_each(extents) WHERE problems.id = " +
                                  std::to_string(id) + " LIMIT 1")
                      .getInt(),
                  3)
            << name;
    }
}

TEST_F(StoreTest, AReadThatFailsLeavesNoTransactionOpen) {
    const Store reader(path, Store::Access::read);
    const auto rename = [&](const std::string& from, const std::string& to) {
        SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("ALTER TABLE " + from + " RENAME TO " + to);
    };
    rename("problems", "moved");
    EXPECT_THROW(static_cast<void>(reader.known(gemm(7, 7, 7))), StoreError);
    rename("moved", "problems");
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).devices.size(), 1U);
    store.remember(measured(key, tile(16), 7));
    EXPECT_EQ(reader.trials(key).size(), 1U);
}

TEST_F(StoreTest, AStoreMayMove) {
    store.remember(measured(key, tile(16), 7));
    Store moved = std::move(store);
    EXPECT_EQ(moved.trials(key).size(), 1u);
    store = std::move(moved);
    EXPECT_EQ(store.trials(key).size(), 1u);
}

TEST_F(StoreTest, ARowEditedByHandIntoNonsenseIsAnErrorThatNamesTheFile) {
    store.remember(measured(key, tile(16), 7));
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE trials SET configuration = 'TILE_WIDTH'");
    const auto error = error_of([&] { static_cast<void>(store.trials(key)); });
    EXPECT_NE(error.find(path.string() + ": holds a damaged row (configuration cannot be read"), std::string::npos)
        << error;
}

TEST(StoreReadOnly, RefusesToWriteAndServesOn) {
    const Scratch scratch;
    const auto path = stored(scratch / "tuned.db");
    Store store(path, Store::Access::read);
    const auto key = key_in(store);  // works in a read-only store, because the rows exist already
    const auto error = error_of([&] { store.remember(measured(key, tile(2), 1)); });
    EXPECT_NE(error.find("is read-only"), std::string::npos) << error;
    EXPECT_THROW(store.remember(gemm(1, 2, 3)), StoreError);
    EXPECT_THROW(store.set_winner(key, tile(1), {}), StoreError);
    EXPECT_EQ(store.trials(key).size(), 1u);
}

TEST_F(StoreTest, EachTimeOfATrialMustBeFiniteAndNotNegativeAndIsNamed) {
    const auto measurement = [](TrialRecord& trial) -> Measurement& { return std::get<Measurement>(trial.outcome); };
    const std::vector<std::pair<std::string, std::function<void(TrialRecord&, double)>>> times{
        {"compile_ms", [](TrialRecord& trial, double time) { trial.compile_ms = time; }},
        {"verify_ms", [](TrialRecord& trial, double time) { trial.verify_ms = time; }},
        {"time_ms", [](TrialRecord& trial, double time) { trial.time_ms = time; }},
        {"median_us", [&](TrialRecord& trial, double time) { measurement(trial).median_us = time; }},
        {"spread_us", [&](TrialRecord& trial, double time) { measurement(trial).spread_us = time; }},
        {"energy_uj", [&](TrialRecord& trial, double time) { measurement(trial).energy_uj = time; }},
        {"samples_us", [&](TrialRecord& trial, double time) { measurement(trial).samples_us.back() = time; }},
    };
    const std::vector<std::uint8_t> code{1};
    const BinaryRecord binary{key.kernel_template, tile(16), "sm_90a", "NVRTC", code, {}};
    for (const auto& [name, set] : times) {
        for (const double time : {-1e-9, std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
            auto trial = with_code(measured(key, tile(16), 5), code);
            set(trial, time);
            const auto refusal = "a trial's " + name + " must be finite and not negative, not " + std::to_string(time);
            const auto expect_refused = [&](const auto& work) {
                try {
                    work();
                    ADD_FAILURE() << refusal;
                } catch (const std::invalid_argument& error) {
                    EXPECT_EQ(error.what(), refusal);
                }
            };
            expect_refused([&] { store.remember(trial); });
            expect_refused([&] { store.set_winner(trial, binary); });
        }
        EXPECT_EQ(store.trials(key).size(), 0U) << name;
        auto trial = with_code(measured(key, tile(16), 5), code);
        set(trial, 0);
        store.set_winner(trial, binary);
        EXPECT_EQ(store.recall(key, tile(16)), trial) << name;
        store.forget(key);
    }
}

TEST_F(StoreTest, ACrownSetTogetherWithItsTrialIsOneThatIsFoundNearby) {
    const std::vector<std::uint8_t> code{1};
    store.set_winner(with_code(measured(key, tile(16), 5), code),
                     {key.kernel_template, tile(16), "sm_90a", "NVRTC", code, {}});
    const auto near = store.nearest(key.device, gemm(500, 500, 500), 0, 1);
    ASSERT_EQ(near.rows.size(), 1U);
    EXPECT_TRUE(near.rows[0].winner);
}

// When new machine code replaces damaged code, nobody knows which code the damaged row had. Therefore only trials and
// members with the new code's hash stay verified.
TEST_F(StoreTest, MachineCodeThatReplacesDamagedCodeIsTheOnlyOneThatCountsAsVerified) {
    const auto larger = key_in(store, 1024);
    const auto third = key_in(store, 64);
    const std::vector<std::uint8_t> code{1}, other{2};
    BinaryRecord binary{key.kernel_template, tile(16), "sm_90a", "NVRTC", code, {}};
    store.set_winner(with_code(measured(key, tile(16), 5), code), binary);
    store.remember(with_code(measured(larger, tile(16), 6), other));
    auto cut_short = with_code(measured(third, tile(16), 6), other);
    std::get<Measurement>(cut_short.outcome).cut_short = true;
    store.remember(cut_short);
    store.remember(with_code(measured(third, tile(8), 6), other));
    const PortfolioMember member{.kernel_template = key.kernel_template,
                                 .configuration = tile(16),
                                 .classes = {"111"},
                                 .verified_by = "operation/testbed",
                                 .code_hash = with_code({}, code).code_hash};
    store.set_portfolio({key.device, "gemm", "f32", "nn"}, {member}, {binary});
    execute(path, "UPDATE binaries SET code = x'ff'");
    store.set_winner(with_code(measured(key, tile(16), 5), code), binary);
    EXPECT_EQ(store.recall(key, tile(16))->verified_by, "operation/testbed");
    EXPECT_EQ(store.recall(larger, tile(16))->verified_by, unrecorded) << "perhaps the damaged code was this one's";
    EXPECT_EQ(store.recall(third, tile(16)), cut_short);
    EXPECT_EQ(store.recall(third, tile(8))->verified_by, "operation/testbed") << "another configuration";
    EXPECT_EQ(store.portfolio({key.device, "gemm", "f32", "nn"}).members.size(), 1U) << "of the new code";
    execute(path, "UPDATE binaries SET code = x'ff'");
    binary.code = other;
    store.set_winner(with_code(measured(larger, tile(16), 6), other), binary);
    EXPECT_EQ(store.recall(key, tile(16))->verified_by, unrecorded);
    EXPECT_EQ(store.recall(larger, tile(16))->verified_by, "operation/testbed");
    EXPECT_TRUE(store.portfolio({key.device, "gemm", "f32", "nn"}).members.empty());
}

TEST_F(StoreTest, AMemberGoesWithTheCodeThatAnotherCodeReplacesAndWithNoOther) {
    const std::vector<std::uint8_t> code{1}, other{2};
    BinaryRecord binary{key.kernel_template, tile(16), "sm_90a", "NVRTC", code, {}};
    BinaryRecord second{key.kernel_template, tile(8), "sm_90a", "NVRTC", code, {}};
    const auto member = [&](std::int64_t width) {
        return PortfolioMember{.kernel_template = key.kernel_template,
                               .configuration = tile(width),
                               .classes = {"111"},
                               .verified_by = "operation/testbed",
                               .code_hash = with_code({}, code).code_hash};
    };
    const PortfolioKey place{key.device, "gemm", "f32", "nn"};
    store.set_portfolio(place, {member(16), member(8)}, {binary, second});
    store.set_winner(with_code(measured(key, tile(16), 5), code), binary);
    EXPECT_EQ(store.portfolio(place).members.size(), 2U) << "the same code";
    binary.code = other;
    store.set_winner(with_code(measured(key, tile(16), 5), other), binary);
    ASSERT_EQ(store.portfolio(place).members.size(), 1U);
    EXPECT_EQ(store.portfolio(place).members[0].member.configuration, tile(8));
}

TEST_F(StoreTest, TheMachineCodeOfAConfigurationComesForEachTargetWithoutDamagedRows) {
    const std::vector<std::uint8_t> code{1};
    std::vector<BinaryRecord> binaries;
    for (const auto* target : {"sm_90a f32 nn", "sm_80 f32 nn", "sm_90a f32 tt"}) {
        binaries.push_back({key.kernel_template, tile(16), target, "NVRTC", code, {.registers = 7}});
        store.set_winner(with_code(measured(key, tile(16), 5), code), binaries.back());
    }
    store.set_winner(with_code(measured(key, tile(8), 5), code),
                     {key.kernel_template, tile(8), "sm_90a f32 nn", "NVRTC", code, {}});
    EXPECT_EQ(store.binaries(key.kernel_template, tile(16)), binaries) << "in the order in which they were stored";
    EXPECT_TRUE(store.binaries(key.kernel_template, tile(32)).empty());
    EXPECT_TRUE(store.binaries(key.kernel_template + 1, tile(16)).empty());
    execute(path, "UPDATE binaries SET code = x'ff' WHERE target LIKE 'sm_80%'");
    EXPECT_EQ(store.binaries(key.kernel_template, tile(16)), (std::vector{binaries[0], binaries[2]}));
}

TEST_F(StoreTest, RefusalsNameTheFileTheConfigurationAndTheRemedy) {
    const auto name = path.string();
    EXPECT_EQ(error_of([&] { store.set_winner(key, tile(3), {}); }),
              name +
                  ": holds no completely measured and verified trial of TILE_WIDTH=3 to declare the winner; was it "
                  "forgotten by another process? Run again");
    EXPECT_EQ(
        error_of([&] {
            store.set_winner(measured(key, tile(3), 1), {key.kernel_template, tile(3), "sm_90a", "NVRTC", {1}, {}});
        }),
        name +
            ": the machine code for TILE_WIDTH=3 is not the code that was verified; was it tried by another "
            "process? Run again");
    EXPECT_EQ(error_of([&] {
                  store.remember(TemplateRecord{"x", "gemm", "hash", {{"../x", ""}}});
              }),
              name + ": takes no template with the file '../x'; give files relative paths without '..'");
    EXPECT_EQ(error_of([&] {
                  store.set_portfolio({key.device, "gemm", "f32", "nn"},
                                      {{.kernel_template = key.kernel_template, .configuration = tile(3)}}, {});
              }),
              name + ": the machine code that TILE_WIDTH=3 was verified with is missing; run again");
    EXPECT_EQ(store.summary().templates, 1);
}

TEST_F(StoreTest, AMemberNeedsTheCodeOfItsOwnTemplateAndConfiguration) {
    const std::vector<std::uint8_t> code{1};
    const PortfolioMember member{.kernel_template = key.kernel_template,
                                 .configuration = tile(16),
                                 .classes = {"111"},
                                 .verified_by = "operation/testbed",
                                 .code_hash = with_code({}, code).code_hash};
    const auto other = store.remember(TemplateRecord{"naive", "gemm", "hash of naive", {}});
    const PortfolioKey place{key.device, "gemm", "f32", "nn"};
    const auto refuses = [&](const BinaryRecord& binary) {
        return !error_of([&] { store.set_portfolio(place, {member}, {binary}); }).empty();
    };
    EXPECT_TRUE(refuses({other, tile(16), "sm_90a", "NVRTC", code, {}}));
    EXPECT_TRUE(refuses({key.kernel_template, tile(8), "sm_90a", "NVRTC", code, {}}));
    EXPECT_TRUE(refuses({key.kernel_template, tile(16), "sm_90a", "NVRTC", {2}, {}}));
    EXPECT_EQ(store.summary().binaries, 0);
    EXPECT_FALSE(refuses({key.kernel_template, tile(16), "sm_90a", "NVRTC", code, {}}));
}

TEST(TrialRecord, SaysWhatMayServeWhatIsTriedAgainAndWhatItWasVerifiedAs) {
    auto trial = measured({}, tile(1), 1);
    EXPECT_TRUE(trial.is_verified());
    EXPECT_FALSE(trial.may_be_retried());
    trial.verified_by.clear();
    EXPECT_FALSE(trial.is_verified());
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        auto other = rejected({}, tile(1), stage);
        other.verified_by = "operation/testbed";
        EXPECT_FALSE(other.is_verified());
        EXPECT_EQ(other.may_be_retried(), stage == Stage::crash || stage == Stage::timeout) << to_text(stage);
    }
    trial.verified_by = "a/b";
    EXPECT_TRUE(trial.was_verified_as("a"));
    EXPECT_FALSE(trial.was_verified_as("a/b"));
    EXPECT_FALSE(trial.was_verified_as("b"));
    trial.verified_by = "ab/c";
    EXPECT_FALSE(trial.was_verified_as("a"));
    trial.verified_by = unrecorded;
    EXPECT_TRUE(trial.was_verified_as("a"));
}

TEST_F(StoreTest, AWinnerThatIsDeclaredAgainIsDecidedAnew) {
    const std::string long_ago = "2020-01-01T00:00:00.000Z";
    for (const std::int64_t width : {8, 16, 16}) {
        store.remember(measured(key, tile(width), 5));
        store.set_winner(key, tile(width), std::nullopt);
        const auto winner = store.best(key.device, key.problem).value();
        EXPECT_EQ(winner.record.configuration, tile(width));
        EXPECT_GT(winner.decided_at, long_ago);
        execute(path, "UPDATE winners SET decided_at = '" + long_ago + "'");
    }
}

// A fetch calls failed_somewhere() for each winner of another problem, so the query must not read all trials.
TEST_F(StoreTest, CodeThatFailedAnywhereIsFoundByAnIndex) {
    auto trial = rejected(key, tile(16), Stage::wrong);
    trial.code_hash = "of the code";
    store.remember(trial);
    EXPECT_TRUE(store.failed_somewhere(tile(16), "of the code"));
    EXPECT_FALSE(store.failed_somewhere(tile(16), "of other code"));
    EXPECT_FALSE(store.failed_somewhere(tile(32), "of the code"));
    SQLite::Database database(path);
    SQLite::Statement plan(database,
                           "EXPLAIN QUERY PLAN SELECT id FROM trials WHERE code_hash = ? AND rejected_at IN ('wrong', "
                           "'crash') AND configuration = ?");
    ASSERT_TRUE(plan.executeStep());
    EXPECT_NE(plan.getColumn(3).getString().find("trials_that_failed"), std::string::npos);
}

}  // namespace
}  // namespace smemtune
