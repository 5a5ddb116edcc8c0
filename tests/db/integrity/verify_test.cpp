// Tests that a Store never returns a damaged or edited row.
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

class DamageTest : public ::testing::Test {
protected:
    DamageTest() {
        Store store(file);
        key = key_in(store);
        for (const int width : {8, 16}) {
            store.remember(with_code(measured(key, tile(width), width), binary().code));
        }
        tune_again(store);
    }

    BinaryRecord binary() const {
        return {.kernel_template = key.kernel_template,
                .configuration = tile(16),
                .target = "sm_90a",
                .compiler = "nvrtc",
                .code = {1, 2, 3, 4}};
    }
    void tune_again(Store& store) const {
        static_cast<void>(store.remember(tiled()));
        store.set_winner(key, tile(16), binary());
    }
    std::string error_of_binary() const {
        return error_of([&] {
            static_cast<void>(Store(file, Store::Access::read).recall_binary(key.kernel_template, tile(16), "sm_90a"));
        });
    }
    std::string error_of_template() const {
        return error_of(
            [&] { static_cast<void>(Store(file, Store::Access::read).recall_template(key.kernel_template)); });
    }
    // Returns the damaged rows, as `smemtune db verify` lists them.
    std::vector<std::string> damaged() const {
        std::vector<std::string> rows;
        for (const auto& each : Store(file, Store::Access::read).damages()) rows.push_back(each.row);
        return rows;
    }

    Scratch scratch;
    std::filesystem::path file = scratch / "tuned.db";
    TrialKey key;
};

using Rows = std::vector<std::string>;

TEST_F(DamageTest, NothingIsDamagedThatWasOnlyStored) {
    EXPECT_EQ(damaged(), Rows{});
    EXPECT_EQ(error_of_binary() + error_of_template(), "");
}

TEST_F(DamageTest, TimesExtentsAndIdentitiesThatNothingCanHaveAreListed) {
    const auto damage_after = [&](const std::string& edit) {
        const auto edited = scratch / "edited.db";
        std::filesystem::copy_file(file, edited, std::filesystem::copy_options::overwrite_existing);
        execute(edited, edit);
        const auto found = Store(edited, Store::Access::read).damages();
        EXPECT_EQ(found.size(), 1U) << edit;
        if (found.empty()) return std::string();
        EXPECT_NE(found[0].remedy, "") << edit;
        return found[0].row + ": " + found[0].reason;
    };
    for (const auto* time : {"0", "1e13", "1e-300"}) {
        EXPECT_EQ(damage_after("UPDATE trials SET median_us = " + std::string(time) + " WHERE id = 1")
                      .find("trial 1: median_us is "),
                  0U)
            << time;
    }
    EXPECT_EQ(
        damage_after("UPDATE trials SET samples_us = '[8, 0]' WHERE id = 1").find("trial 1: a time of samples_us"), 0U);
    EXPECT_EQ(damage_after("UPDATE trials SET spread_us = 1e13 WHERE id = 1").find("trial 1: spread_us is "), 0U);
    EXPECT_EQ(damage_after("UPDATE trials SET code_hash = 'xyz' WHERE id = 1"),
              "trial 1: code_hash is 'xyz', which is no hash");
    EXPECT_EQ(damage_after("UPDATE trials SET verified_by = 'xyz' WHERE id = 1"),
              "trial 1: verified_by is 'xyz', which is no verification identity");
    EXPECT_EQ(damage_after(R"(UPDATE problems SET extents = '{"M":512,"N":0,"K":512}')"),
              "problem 1 (512x512x512): the extent N is 0, which is not positive");
    EXPECT_EQ(damage_after("UPDATE trials SET configuration = 'garbage' WHERE id = 1")
                  .find("trial 1: configuration cannot be read"),
              0U);
}

TEST_F(DamageTest, TuningForgetsTrialsWithImpossibleTimesOrIdentities) {
    auto left = Store(file).trials(key).size();
    ASSERT_EQ(left, 2U);
    for (const auto* change : {"median_us = 1e13 WHERE configuration = 'TILE_WIDTH=8'", "code_hash = 'xyz'"}) {
        execute(file, std::string("UPDATE trials SET ") + change);
        Store store(file);
        store.forget_damaged(key);
        EXPECT_EQ(store.trials(key).size(), --left) << change;
        EXPECT_EQ(damaged(), Rows{}) << change;
    }
}

TEST_F(DamageTest, AListingLeavesDamagedRowsOutIfTheCallerIsTold) {
    execute(file, "UPDATE trials SET configuration = 'garbage' WHERE configuration = 'TILE_WIDTH=8'");
    EXPECT_NE(error_of([&] {
                  static_cast<void>(Store(file, Store::Access::read).rows({}));
              }).find("smemtune db verify --db " + file.string()),
              std::string::npos);
    std::vector<std::string> told;
    const Store store(file, Store::Access::read,
                      {.on_damage = [&](const std::string& reason) { told.push_back(reason); }});
    EXPECT_EQ(store.rows({}).size(), 1U);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].find("trial 1: configuration cannot be read"), 0U) << told[0];
}

TEST_F(DamageTest, MachineCodeThatChangedIsNeverReturnedAndTuningReplacesIt) {
    for (const auto* edit : {"code = x'0102'", "code = x'01020305'", "registers = 7", "dynamic_shared_bytes = 100",
                             "compiler = 'other'", "sha256 = NULL", "sha256 = ''", "code = zeroblob(70000000)"}) {
        execute(file, "UPDATE binaries SET " + std::string(edit));
        EXPECT_EQ(error_of_binary().rfind(file.string() + ": ", 0), 0U) << edit << error_of_binary();
        EXPECT_EQ(damaged(), Rows{"machine code of tiled TILE_WIDTH=16 for sm_90a"}) << edit;
        Store store(file);
        tune_again(store);
        EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_90a"), binary()) << edit;
    }
    EXPECT_EQ(damaged(), Rows{});
}

TEST_F(DamageTest, MachineCodeOfAnotherConfigurationIsNeverReturned) {
    execute(file, "UPDATE binaries SET configuration = 'TILE_WIDTH=8'");
    const auto error = error_of([&] {
        static_cast<void>(Store(file, Store::Access::read).recall_binary(key.kernel_template, tile(8), "sm_90a"));
    });
    EXPECT_NE(error.find("differs from its SHA-256"), std::string::npos) << error;
}

TEST_F(DamageTest, ATemplateThatChangedIsNeverReturnedAndTuningReplacesIt) {
    for (const auto* edit :
         {"UPDATE template_files SET text = text || ' '",
          "UPDATE template_files SET path = 'gemm/other.cu' WHERE path LIKE '%.cu'",
          "DELETE FROM template_files WHERE path LIKE '%.cu'", "INSERT INTO template_files VALUES (1, 'more.h', '')",
          "UPDATE templates SET operation = 'transpose'", "UPDATE templates SET sha256 = NULL"}) {
        execute(file, edit);
        EXPECT_NE(error_of_template().find("differs from its SHA-256"), std::string::npos) << edit;
        EXPECT_EQ(damaged(), Rows{"template tiled hash of tiled"}) << edit;
        Store store(file);
        tune_again(store);
        EXPECT_EQ(store.recall_template(key.kernel_template), tiled()) << edit;
    }
}

TEST_F(DamageTest, AFileOfATemplateNeverLeadsOutOfItsFolder) {
    Store store(file);
    for (const std::string path : {"/etc/cron.d/x", "../x", "a/../../x", "a\nb"}) {
        auto outside = tiled();
        outside.files[path] = "text";
        EXPECT_NE(error_of([&] { store.remember(outside); }).find("takes no template with the file"),
                  std::string::npos);
        execute(file, "UPDATE template_files SET path = '" + path + "' WHERE path LIKE '%.cu'");
        EXPECT_NE(error_of_template().find("the path '" + path + "' leads outside"), std::string::npos);
        tune_again(store);
    }
}

TEST_F(DamageTest, AdoptionAndNewParametersKeepDamageRecognisable) {
    execute(file, "UPDATE binaries SET code = x'ff'; UPDATE template_files SET text = 'edited'");
    Store store(file);
    auto later = tiled();
    later.hash = "later hash";
    later.same_code_as = {"hash of tiled"};
    later.files["gemm/tiled.toml"] = "PAD";
    const auto id = store.remember(later, {{{"PAD", 0}}});
    const Configuration padded{{{"TILE_WIDTH", 16}, {"PAD", 0}}};
    EXPECT_THROW(static_cast<void>(store.recall_binary(id, padded, "sm_90a")), DamagedRow);
    EXPECT_EQ(store.recall_template(id), [&] {
        auto stored = later;
        stored.same_code_as.clear();
        return stored;
    }());
}

TEST_F(DamageTest, AdoptionKeepsTheHashesOfWhatIsSound) {
    Store store(file);
    auto later = tiled();
    later.hash = "later hash";
    later.same_code_as = {"hash of tiled"};
    EXPECT_EQ(store.remember(later, {{{"PAD", 0}}}), key.kernel_template);
    auto renamed = later;
    renamed.files["gemm/tiled.toml"] = "PAD";
    store.remember(renamed, {{{"PAD", 0}}});
    auto code = binary();
    code.configuration = {{{"TILE_WIDTH", 16}, {"PAD", 0}}};
    EXPECT_EQ(store.recall_binary(key.kernel_template, code.configuration, "sm_90a"), code);
    EXPECT_EQ(damaged(), Rows{});
}

TEST_F(DamageTest, ATemplateOfManyLargeFilesIsRefusedBeforeItFillsMemory) {
    execute(
        file,
        "INSERT INTO template_files SELECT 1, 'file' || value, hex(zeroblob(6000000)) FROM json_each('[1,2,3,4,5,6]')");
    EXPECT_NE(error_of_template().find("larger than any template"), std::string::npos) << error_of_template();
}

TEST_F(DamageTest, ATrialThatCannotBeReadIsListed) {
    execute(file, "UPDATE trials SET samples_us = '[1, \"x\"]' WHERE id = 2");
    EXPECT_EQ(damaged(), Rows{"trial 2"});
}

TEST_F(DamageTest, TuningForgetsTrialsAndMachineCodeThatCannotBeRead) {
    for (const auto* harm :
         {"UPDATE trials SET samples_us = '[1, \"x\"]' WHERE configuration = 'TILE_WIDTH=8'",
          "UPDATE trials SET configuration = 'TILE_WIDTH' WHERE configuration = 'TILE_WIDTH=8'",
          "UPDATE trials SET reason = hex(zeroblob(35000000)), rejected_at = 'wrong', median_us = NULL, "
          "spread_us = NULL, samples_us = NULL, cut_short = NULL, clock_khz = NULL, "
          "energy_uj = NULL WHERE configuration = 'TILE_WIDTH=8'",
          "UPDATE binaries SET code = x'00'", "UPDATE binaries SET sha256 = NULL"}) {
        Store(file).remember(with_code(measured(key, tile(8), 8), binary().code));
        execute(file, harm);
        ASSERT_EQ(damaged().size(), 1U) << harm;
        Store store(file);
        store.forget_damaged(key);
        EXPECT_EQ(damaged(), Rows{}) << harm;
        EXPECT_EQ(store.recall(key, tile(16)), with_code(measured(key, tile(16), 16), binary().code)) << harm;
        tune_again(store);
    }
}

TEST_F(DamageTest, TuningForgetsNothingThatIsSound) {
    Store store(file);
    const auto before = store.trials(key);
    store.forget_damaged(key);
    EXPECT_EQ(store.trials(key), before);
    EXPECT_EQ(store.recall_binary(key.kernel_template, tile(16), "sm_90a"), binary());
}

TEST_F(DamageTest, ATrialThatCannotBeReadIsNoReasonToStopTuningOtherProblems) {
    Store store(file);
    const auto other = key_in(store, 1024);
    store.remember(measured(other, tile(8), 8));
    execute(file, "UPDATE trials SET samples_us = '[1, \"x\"]' WHERE problem = " + std::to_string(key.problem));
    for (const auto* name : {"", "tiled"}) {
        const auto rows = store.best_of(key.device, "gemm", "f32", "nn", name);
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows.front().record.key, other);
    }
}

TEST_F(DamageTest, ATemplateTooLargeForMemoryIsRefusedByName) {
    auto huge = tiled();
    huge.files["gemm/tiled.cu"] = std::string(70'000'000, ' ');
    Store store(file);
    EXPECT_NE(error_of([&] { store.remember(huge); }).find("64 MiB"), std::string::npos);
    EXPECT_EQ(store.recall_template(key.kernel_template), tiled());
}

}  // namespace
}  // namespace smemtune
