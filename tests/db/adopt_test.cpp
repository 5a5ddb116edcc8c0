#include "db/adopt.h"

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

// Tests with the template `tiled` and a later version of it, which has a different text but the same machine code.
class AdoptTest : public ::testing::Test {
protected:
    static TemplateRecord later() {
        auto record = tiled();
        record.hash = "later hash";
        record.files["gemm/tiled.cu"] = "// better words\n";
        record.same_code_as = {"hash of an unrelated version", tiled().hash};
        return record;
    }
    static TemplateRecord unrelated() {
        auto record = later();
        record.same_code_as.clear();
        return record;
    }
    [[nodiscard]] BinaryRecord binary(std::int64_t row, std::int64_t width, std::uint8_t code) const {
        return {.kernel_template = row,
                .configuration = tile(width),
                .target = "sm_90a",
                .compiler = "nvrtc",
                .code = {code},
                .resources = {}};
    }
    [[nodiscard]] TrialKey with_row(std::int64_t row) const { return {key.device, row, key.problem}; }

    Scratch scratch;
    Store store{scratch / "tuned.db"};
    TrialKey key = key_in(store);
};

TEST_F(AdoptTest, ARowOfAVersionWithTheSameCodeBecomesThePresentOne) {
    const auto winner = with_code(measured(key, tile(8), 5), {42});
    store.remember(rejected(key, tile(64), Stage::limits));
    store.set_winner(winner, binary(key.kernel_template, 8, 42));
    EXPECT_EQ(store.remember(later()), key.kernel_template);
    auto stored = later();
    stored.same_code_as.clear();
    EXPECT_EQ(store.recall_template(key.kernel_template), stored) << "hash and files are the present ones";
    EXPECT_EQ(store.trials(key), (std::vector{rejected(key, tile(64), Stage::limits), winner}));
    EXPECT_TRUE(store.best(key.device, key.problem)->winner);
    EXPECT_EQ(store.best(key.device, key.problem)->template_hash, "later hash");
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(8), "sm_90a"), binary(key.kernel_template, 8, 42));
    EXPECT_EQ(store.summary().templates, 1);
    EXPECT_EQ(store.remember(later()), key.kernel_template) << "once more, nothing is left to do";
}

TEST_F(AdoptTest, WithoutTheClaimOrUnderAnotherNameItStaysAnotherVersion) {
    EXPECT_NE(store.remember(unrelated()), key.kernel_template);
    auto other = later();
    other.name = "strip_tiled";
    EXPECT_NE(store.remember(other), key.kernel_template);
    EXPECT_EQ(store.recall_template(key.kernel_template), tiled());
}

TEST_F(AdoptTest, WhereBothVersionsHaveARowTheEarlierOneAddsWhatThePresentOneLacks) {
    const auto present = with_row(store.remember(unrelated()));
    store.remember(measured(key, tile(8), 5));
    store.remember(measured(present, tile(16), 7));
    store.set_winner(with_code(measured(key, tile(16), 6), {1}), binary(key.kernel_template, 16, 1));
    EXPECT_EQ(store.remember(later()), present.kernel_template);
    EXPECT_EQ(store.recall(present, tile(8)), measured(present, tile(8), 5));
    EXPECT_EQ(store.recall(present, tile(16)), measured(present, tile(16), 7)) << "the present version's own";
    const auto best = store.best(key.device, key.problem).value();
    EXPECT_TRUE(best.winner);
    EXPECT_EQ(best.record, measured(present, tile(16), 7)) << "the trial that stays becomes the winner";
    EXPECT_EQ(store.recall_binary(present.kernel_template, tile(16), "sm_90a"), binary(present.kernel_template, 16, 1));
    EXPECT_EQ(store.recall_template(key.kernel_template), std::nullopt) << "one row is left";
    EXPECT_EQ(store.summary().measured, 2);
}

TEST_F(AdoptTest, AWinnersPlaceDoesNotGoToATrialThatWasCutShortOrNeverVerified) {
    const auto present = with_row(store.remember(unrelated()));
    auto cut_short = measured(present, tile(16), 3);
    std::get<Measurement>(cut_short.outcome).cut_short = true;
    auto unverified = cut_short;
    std::get<Measurement>(unverified.outcome).cut_short = false;
    unverified.verified_by.clear();
    unverified.key.problem = store.remember(gemm(64, 64, 64));
    for (const auto& twin : {cut_short, unverified}) {
        const TrialKey at{key.device, key.kernel_template, twin.key.problem};
        store.remember(twin);
        store.set_winner(with_code(measured(at, tile(16), 6), {1}), binary(at.kernel_template, 16, 1));
    }
    EXPECT_EQ(store.remember(later()), present.kernel_template);
    for (const auto& twin : {cut_short, unverified}) {
        EXPECT_EQ(store.recall(twin.key, tile(16)), twin);
        EXPECT_EQ(store.best(key.device, twin.key.problem), std::nullopt);
    }
}

TEST_F(AdoptTest, OfSeveralEarlierVersionsAllTrialsCount) {
    auto second = tiled();
    second.hash = "second hash";
    const auto newer = with_row(store.remember(second));
    store.remember(measured(key, tile(8), 5));
    store.remember(measured(newer, tile(16), 6));
    auto third = later();
    third.same_code_as = {tiled().hash, second.hash};
    const auto row = with_row(store.remember(third));
    EXPECT_EQ(row, newer) << "the newest row gets the present hash";
    EXPECT_EQ(store.trials(row).size(), 2U);
    EXPECT_EQ(store.summary().templates, 1);
}

TEST_F(AdoptTest, ParametersThatWereAddedInBetweenGetTheirDefaults) {
    store.remember(measured(key, tile(8), 5));
    const Configuration defaults{{{"TILE_WIDTH", 16}, {"PAD", 1}}};
    (void)store.remember(later(), defaults);
    EXPECT_TRUE(store.recall(key, {{{"TILE_WIDTH", 8}, {"PAD", 1}}}).has_value());
}

}  // namespace
}  // namespace smemtune
