#include "db/complete.h"

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

// Tests with a template that gets a new parameter PAD with default 1. Its machine code stays the same.
class CompleteTest : public ::testing::Test {
protected:
    static TemplateRecord with_pad() {
        auto record = tiled();
        record.files["gemm/tiled.toml"] = "name = 'tiled', with PAD";
        return record;
    }
    void add_pad() { EXPECT_EQ(store.remember(with_pad(), padded(16)), key.kernel_template); }
    static Configuration padded(std::int64_t width, std::int64_t pad = 1) {
        return {{{"TILE_WIDTH", width}, {"PAD", pad}}};
    }
    [[nodiscard]] BinaryRecord binary(const Configuration& configuration, std::uint8_t code) const {
        return {.kernel_template = key.kernel_template,
                .configuration = configuration,
                .target = "sm_90a",
                .compiler = "nvrtc",
                .code = {code},
                .resources = {}};
    }

    Scratch scratch;
    Store store{scratch / "tuned.db"};
    TrialKey key = key_in(store);
};

TEST_F(CompleteTest, ATrialWithoutANewParameterIsOneWithItsPreset) {
    store.remember(rejected(key, tile(64), Stage::limits));
    store.set_winner(with_code(measured(key, tile(8), 5), {42}), binary(tile(8), 42));
    add_pad();
    const auto winner = with_code(measured(key, padded(8), 5), {42});
    EXPECT_EQ(store.trials(key), (std::vector{rejected(key, padded(64), Stage::limits), winner}));
    EXPECT_EQ(store.recall(key, padded(8)), winner);
    EXPECT_EQ(store.recall(key, padded(8, 0)), std::nullopt);
    EXPECT_EQ(store.recall(key, tile(8)), std::nullopt);
    EXPECT_TRUE(store.best(key.device, key.problem)->winner);
    EXPECT_EQ(store.best(key.device, key.problem)->record.configuration, padded(8));
    EXPECT_EQ(store.recall_binary(key.kernel_template, padded(8), "sm_90a"), binary(padded(8), 42));
}

TEST_F(CompleteTest, ThatIsSoOnEveryDeviceAndProblemAndForNoOtherTemplate) {
    const auto elsewhere = key_in(store, 1024, "sm_80");
    auto other = key;
    other.kernel_template = store.remember(TemplateRecord{"tiled", "gemm", "of another version", {}});
    for (const auto& each : {key, elsewhere, other}) store.remember(measured(each, tile(8), 5));
    add_pad();
    for (const auto& each : {key, elsewhere}) EXPECT_TRUE(store.recall(each, padded(8)).has_value());
    EXPECT_TRUE(store.recall(other, tile(8)).has_value());
}

TEST_F(CompleteTest, AsLongAsTheManifestStaysNothingIsTouched) {
    store.remember(measured(key, tile(8), 5));
    (void)store.remember(tiled(), padded(16));
    EXPECT_TRUE(store.recall(key, tile(8)).has_value());
}

// If an older manifest is used again after a newer manifest, a configuration gets two trials: one with PAD and one
// without it.
TEST_F(CompleteTest, OfTwoTrialsOfOneConfigurationTheCompleteOneStaysAndGetsTheCrown) {
    const auto complete = with_code(measured(key, padded(8), 5), {1});
    store.set_winner(complete, binary(padded(8), 1));
    store.remember(measured(key, padded(32), 9));
    store.set_winner(with_code(measured(key, tile(8), 4), {2}), binary(tile(8), 2));
    add_pad();
    EXPECT_EQ(store.trials(key), (std::vector{complete, measured(key, padded(32), 9)}));
    const auto best = store.best(key.device, key.problem).value();
    EXPECT_TRUE(best.winner);
    EXPECT_EQ(best.record, complete);
    EXPECT_EQ(store.summary().binaries, 1);
    EXPECT_EQ(store.recall_binary(key.kernel_template, padded(8), "sm_90a"), binary(padded(8), 1));
}

TEST_F(CompleteTest, ACrownDoesNotGoToARejectedTrial) {
    store.remember(rejected(key, padded(8), Stage::wrong));
    store.remember(measured(key, padded(32), 9));
    store.remember(measured(key, tile(8), 4));
    store.set_winner(key, tile(8), std::nullopt);
    add_pad();
    const auto best = store.best(key.device, key.problem).value();
    EXPECT_FALSE(best.winner);
    EXPECT_EQ(best.record.configuration, padded(32));
}

TEST_F(CompleteTest, AWinnersPlaceDoesNotGoToATrialThatWasCutShort) {
    auto twin = measured(key, padded(8), 3);
    std::get<Measurement>(twin.outcome).cut_short = true;
    store.remember(twin);
    store.remember(measured(key, tile(8), 4));
    store.set_winner(key, tile(8), std::nullopt);
    add_pad();
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
}

TEST_F(CompleteTest, AWinnersPlaceDoesNotGoToATrialThatWasNeverVerified) {
    auto twin = measured(key, padded(8), 3);
    twin.verified_by.clear();
    store.remember(twin);
    store.remember(measured(key, tile(8), 4));
    store.set_winner(key, tile(8), std::nullopt);
    add_pad();
    EXPECT_EQ(store.recall(key, padded(8)), twin);
    EXPECT_EQ(store.best(key.device, key.problem), std::nullopt);
}

TEST_F(CompleteTest, AConfigurationThatCannotBeReadIsACorruptDatabaseAndNothingChanges) {
    store.remember(measured(key, tile(8), 5));
    execute(scratch / "tuned.db",
            "INSERT INTO binaries VALUES (7, 1, 'TILE_WIDTH=', 'sm_90a', 'nvrtc', x'01', 0, 0, 0, 0, NULL)");
    const auto error = error_of([&] { (void)store.remember(with_pad(), padded(16)); });
    EXPECT_NE(error.find("configuration cannot be read"), std::string::npos) << error;
    EXPECT_EQ(store.recall_template(key.kernel_template), tiled());
    EXPECT_TRUE(store.recall(key, tile(8)).has_value());
}

}  // namespace
}  // namespace smemtune
