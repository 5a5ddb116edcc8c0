// Tests the commands that read stored trials (db, explain, simulate) on a database that was tuned on the host device.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <SQLiteCpp/Database.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

// t.db has all trials of `tiled` at sizes 16 and 48x16x16, and a few of `naive` and `row_tile` at 16.
class StoredTrials : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        scratch = std::make_unique<Scratch>();
        tune({"--sizes", "16,48x16x16", "--templates", "tiled", "--search", "exhaustive"});
        tune({"--sizes", "16", "--templates", "naive,row_tile", "--search", "random", "--evaluations", "4"});
    }
    static void TearDownTestSuite() { scratch.reset(); }

    static void tune(Words words) {
        words.insert(words.end(), {"--device", "host", "--db", "t.db"});
        const auto tuned = run(*scratch, words);
        ASSERT_EQ(tuned.code, 0) << tuned.err;
    }
    static Finished on_database(Words words) {
        words.insert(words.end(), {"--db", "t.db"});
        return run(*scratch, words);
    }

    static inline std::unique_ptr<Scratch> scratch;
};

TEST_F(StoredTrials, FiltersAreExactAndPatternsAreAskedFor) {
    const auto text = [](Words words) {
        words.insert(words.begin(), {"db", "trials"});
        return on_database(std::move(words)).out;
    };
    EXPECT_THAT(text({"--sizes", "16"}), AllOf(HasSubstr("16x16x16"), Not(HasSubstr("48x16x16"))));
    EXPECT_THAT(text({"--size", "48x*"}), AllOf(HasSubstr("48x16x16"), Not(HasSubstr(" 16x16x16"))));
    EXPECT_THAT(text({"--templates", "row_tile"}), Not(HasSubstr("tiled")));
    EXPECT_THAT(text({"--templates", "*tile*"}),
                AllOf(HasSubstr("tiled"), HasSubstr("row_tile"), Not(HasSubstr("naive"))));
    EXPECT_THAT(text({"--device", "host", "--templates", "naive"}), HasSubstr("naive"));
    const auto none = on_database({"db", "trials", "--template", "tield"});
    EXPECT_EQ(none.code, 0);
    EXPECT_THAT(none.err, HasSubstr("no trial matches; did you mean 'tiled'?"));
}

TEST_F(StoredTrials, VerifyListsDamagedRowsAndExitsWith4) {
    const auto sound = on_database({"db", "verify"});
    EXPECT_EQ(sound.code, 0) << sound.err;
    EXPECT_THAT(sound.out, HasSubstr("no row is damaged"));

    const std::filesystem::path file = *scratch / "damaged.db";
    std::filesystem::copy_file(*scratch / "t.db", file, std::filesystem::copy_options::overwrite_existing);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE template_files SET text = text || ' ' WHERE path LIKE '%/tiled.cu'");
    const auto damaged = run(*scratch, {"db", "verify", "--db", "damaged.db"});
    EXPECT_EQ(damaged.code, 4);
    EXPECT_THAT(damaged.out,
                AllOf(HasSubstr("template tiled "), HasSubstr("differs from its SHA-256"), HasSubstr("1 damaged")));
    const auto as_json =
        json::parse(run(*scratch, {"db", "verify", "--json", "--db", "damaged.db"}).out, nullptr, false);
    EXPECT_EQ(as_json["damaged"].size(), 1U);
    EXPECT_EQ(run(*scratch, {"db", "best", "--db", "damaged.db"}).code, 0) << "the rest can be looked at";
}

TEST_F(StoredTrials, ADamagedTrialIsNamedAndLeftOutOfWhatIsShown) {
    const std::filesystem::path file = *scratch / "damaged.db";
    std::filesystem::copy_file(*scratch / "t.db", file, std::filesystem::copy_options::overwrite_existing);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec(
            "UPDATE trials SET configuration = 'garbage' WHERE id = (SELECT w.trial FROM winners AS w "
            "JOIN problems AS p ON p.id = w.problem WHERE p.size = '16x16x16')");
    for (const Words& words : {Words{"db", "best"},
                               {"db", "trials"},
                               {"db", "importance"},
                               {"db", "convergence"},
                               {"report", "page.html"},
                               {"db", "export", "--winners", "app.db"},
                               {"db", "export", "--format", "csv", "trials.csv"}}) {
        auto with_database = words;
        with_database.insert(with_database.end(), {"--db", "damaged.db"});
        const auto shown = run(*scratch, with_database);
        EXPECT_EQ(shown.code, 4) << words.at(1) << shown.err;
        EXPECT_THAT(shown.err, AllOf(HasSubstr("a damaged row is left out: trial "), HasSubstr("'garbage'")));
    }
    EXPECT_THAT(run(*scratch, {"db", "best", "--db", "damaged.db"}).out,
                AllOf(HasSubstr("48x16x16"), Not(HasSubstr(" 16x16x16"))));
    EXPECT_EQ(Store(*scratch / "app.db", Store::Access::read).rows({}).size(), 1U);
    const auto served = run(*scratch, {"run", "--sizes", "16", "--device", "host", "--db", "damaged.db"});
    EXPECT_EQ(served.code, 0);
    EXPECT_THAT(served.err, AllOf(HasSubstr("left out what is damaged"), HasSubstr("trial "), HasSubstr("'garbage'"),
                                  HasSubstr("db verify --db damaged.db")));
}

TEST_F(StoredTrials, ProposedCommandsNameTheDatabase) {
    EXPECT_THAT(on_database({"db", "trials", "--sizes", "17"}).err, HasSubstr("See 'smemtune db list --db t.db'"));
    EXPECT_THAT(on_database({"db", "show", "999999"}).err, HasSubstr("see 'smemtune db trials --db t.db'"));
    EXPECT_THAT(on_database({"report", "--sizes", "17"}).err, HasSubstr("See 'smemtune db list --db t.db'"));
    EXPECT_THAT(on_database({"explain", "--trial", "999999"}).err, HasSubstr("see 'smemtune db trials --db t.db'"));
    EXPECT_THAT(on_database({"db", "export", "--portfolio-text", "texts"}).err,
                HasSubstr("'smemtune portfolio --db t.db'"));
}

TEST_F(StoredTrials, TuningAgainMakesDamagedRowsAnew) {
    const std::filesystem::path file = *scratch / "damaged.db";
    std::filesystem::copy_file(*scratch / "t.db", file, std::filesystem::copy_options::overwrite_existing);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec(
            "UPDATE template_files SET text = text || ' ' WHERE path LIKE '%/tiled.cu';"
            "UPDATE binaries SET code = substr(code, 2) WHERE template = (SELECT id FROM templates WHERE name = "
            "'tiled');"
            "UPDATE trials SET samples_us = '[\"none\"]' WHERE configuration = 'TILE_WIDTH=2' OR configuration = "
            "'TILE_WIDTH=8'");
    ASSERT_EQ(run(*scratch, {"db", "verify", "--db", "damaged.db"}).code, 4);
    const auto tuned = run(*scratch, {"tune", "--device", "host", "--sizes", "16,48x16x16", "--templates", "tiled",
                                      "--search", "exhaustive", "--db", "damaged.db"});
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_EQ(run(*scratch, {"db", "verify", "--db", "damaged.db"}).out, on_database({"db", "verify"}).out);
    const Store again(file, Store::Access::read);
    const Store sound(*scratch / "t.db", Store::Access::read);
    EXPECT_EQ(again.summary().measured, sound.summary().measured);
    EXPECT_GE(again.summary().binaries, 1);
}

TEST_F(StoredTrials, ExplainTakesTheWinnerOfASizeOrATrial) {
    const auto winner =
        Store(*scratch / "t.db", Store::Access::read).rows({.sizes = {"16x16x16"}, .best_only = true}).at(0);
    const auto explained = json::parse(on_database({"explain", "--sizes", "16", "--json"}).out, nullptr, false);
    ASSERT_FALSE(explained.is_discarded());
    EXPECT_EQ(explained.at("trial"), winner.id);
    EXPECT_EQ(explained.at("template"), winner.kernel_template);
    const auto text = on_database({"explain", "--trial", std::to_string(winner.id)});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr(winner.kernel_template), HasSubstr("the winner"), HasSubstr("16x16x16")));
    const auto other = on_database({"explain", "--size", "16", "--template", "tiled"});
    EXPECT_THAT(other.out, AllOf(HasSubstr("tiled"), HasSubstr("TILE_WIDTH="))) << other.err;
    const auto absent = on_database({"explain", "--sizes", "17"});
    EXPECT_EQ(absent.code, 2);
    EXPECT_THAT(absent.err, HasSubstr("t.db holds no winner of gemm 17. See 'smemtune db best --db t.db'"));
    EXPECT_THAT(on_database({"explain", "--sizes", "16", "--templates", "tield"}).err,
                HasSubstr("by tield; did you mean 'tiled'?"));
}

TEST_F(StoredTrials, ExplainOfAConfigurationThatCannotRunExitsWith1) {
    const auto explained =
        run(*scratch, {"explain", "tiled", "--config", "TILE_WIDTH=32", "--device", "shared_bytes_per_block=4096"});
    EXPECT_EQ(explained.code, 1);
    EXPECT_THAT(explained.out, HasSubstr("NOT FEASIBLE"));
}

TEST_F(StoredTrials, SimulateReplaysACompleteRecordingOnly) {
    const auto simulate = [](Words words) {
        words.insert(words.begin(), {"simulate", "--landscape", "t.db", "--repeats", "2", "--search", "random"});
        return run(*scratch, words);
    };
    const auto complete = simulate({"--templates", "tiled", "--sizes", "16"});
    EXPECT_EQ(complete.code, 0) << complete.err;
    const auto part = simulate({"--templates", "naive"});
    EXPECT_EQ(part.code, 2);
    EXPECT_THAT(part.err,
                AllOf(HasSubstr("valid configurations of naive for gemm f32 nn 16x16x16: the trials of a search"),
                      HasSubstr("smemtune --search exhaustive --templates naive --sizes 16x16x16 --db t.db"),
                      HasSubstr("--partial")));
    const auto all_the_same = simulate({"--templates", "naive", "--partial"});
    EXPECT_EQ(all_the_same.code, 0) << all_the_same.err;
    EXPECT_THAT(all_the_same.err, HasSubstr("on this part only"));
    const auto several = simulate({"--templates", "tiled"});
    EXPECT_EQ(several.code, 2);
    EXPECT_THAT(several.err, HasSubstr("holds several recordings; choose one; --sizes and --layout, of "));
}

TEST(Simulate, ADatabaseWhoseTemplateCannotBeReadIsNoLandscape) {
    const Scratch scratch;
    {
        Store store(scratch / "t.db");
        Device device;
        device.name = "GPU Y";
        const TrialKey key{store.remember(device), store.remember(TemplateRecord{"tiled", "gemm", "hash", {}}),
                           store.remember(gemm(64, 64, 64))};
        store.remember({key, {{{"T", 8}}}, Measurement{.median_us = 5.0, .samples_us = {5.0}}});
    }
    const auto simulated = run(scratch, {"simulate", "--landscape", "t.db"});
    EXPECT_EQ(simulated.code, 2);
    EXPECT_THAT(simulated.err, HasSubstr("the number of valid configurations is unknown"));
    EXPECT_EQ(run(scratch, {"simulate", "--landscape", "t.db", "--partial", "--repeats", "1"}).code, 0);
}

TEST_F(StoredTrials, AreRunFromADatabaseThatOthersCanChangeOnlyIfThatIsAskedFor) {
    const std::filesystem::path database = *scratch / "t.db";
    const auto before = std::filesystem::status(database).permissions();
    permissions(database, before | std::filesystem::perms::others_write);
    const auto refused = on_database({"run", "--sizes", "16", "--device", "host"});
    EXPECT_EQ(refused.code, 4) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("t.db is "), HasSubstr("chmod go-w"), HasSubstr("--trust-any-owner")));
    const auto trusted = on_database({"run", "--sizes", "16", "--device", "host", "--trust-any-owner"});
    EXPECT_EQ(trusted.code, 0) << trusted.err;
    permissions(database, before);
}

}  // namespace
}  // namespace smemtune
