// Tests which trials `smemtune db` shows, on a database with invented trials.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// t.db has 25 trials of one problem. Trial n takes 100 - n us, but trials 24 and 25 are rejected. Trial 3 is the
// winner.
class InventedTrials : public ::testing::Test {
protected:
    void SetUp() override {
        Store store(scratch / "t.db");
        const TrialKey key{store.remember(model_device("sm_90")),
                           store.remember(TemplateRecord{"tiled", "gemm", "hash", {}}),
                           store.remember(gemm(64, 64, 64))};
        const auto run_row = store.start_run({R"({"sizes":"64"})", {}, {}});
        for (std::int64_t n = 1; n <= 25; ++n) {
            const auto us = 100.0 - static_cast<double>(n);
            const Outcome outcome = n > 23 ? Outcome(Rejection{Stage::wrong, "C[0,0] is nan"})
                                           : Measurement{.median_us = us, .samples_us = {us}};
            store.remember({.key = key,
                            .configuration = {{{"TILE_WIDTH", n}}},
                            .outcome = outcome,
                            .run = run_row,
                            .verified_by = "operation/testbed"});
        }
        store.set_winner(key, {{{"TILE_WIDTH", 3}}}, std::nullopt);
    }
    Finished db(std::vector<std::string> words) {
        words.insert(words.begin(), "db");
        words.insert(words.end(), {"--db", "t.db"});
        return run(scratch, words);
    }
    json db_json(std::vector<std::string> words) {
        words.emplace_back("--json");
        return json::parse(db(std::move(words)).out, nullptr, false);
    }
    static std::vector<int> ids(const json& trials) {
        std::vector<int> result;
        for (const auto& trial : trials) result.push_back(trial.at("id").get<int>());
        return result;
    }

    const Scratch scratch;
};

TEST_F(InventedTrials, TextShowsTwentyAndJsonAndCsvAllUnlessALimitIsGiven) {
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    EXPECT_THAT(db({"trials"}).out, HasSubstr("\n5 more: --limit 0 lists all\n"));
    EXPECT_THAT(db({"trials", "--limit", "24"}).out, HasSubstr("\n1 more: "));
    EXPECT_THAT(db({"trials", "--limit", "0"}).out, Not(HasSubstr(" more: ")));
    EXPECT_THAT(db({"trials", "--limit", "25"}).out, Not(HasSubstr(" more: ")));
    const auto all = db_json({"trials"});
    EXPECT_EQ(all.at("trials").size(), 25U);
    EXPECT_EQ(all.at("more"), 0);
    const auto some = db_json({"trials", "--limit", "4"});
    EXPECT_EQ(some.at("trials").size(), 4U);
    EXPECT_EQ(some.at("more"), 21);
    EXPECT_EQ(lines(db({"trials", "--csv"}).out), 26);
    EXPECT_EQ(lines(db({"trials", "--csv", "--limit", "2"}).out), 3);
}

TEST_F(InventedTrials, AreSortedAndFilteredAsAsked) {
    EXPECT_THAT(ids(db_json({"trials", "--limit", "2"}).at("trials")), ElementsAre(23, 22)) << "by time";
    EXPECT_THAT(ids(db_json({"trials", "--limit", "2", "--sort", "trial"}).at("trials")), ElementsAre(1, 2));
    const auto rejected = db_json({"trials", "--rejected", "--limit", "1"});
    EXPECT_THAT(ids(rejected.at("trials")), ElementsAre(::testing::AnyOf(24, 25)));
    EXPECT_EQ(rejected.at("more"), 1);
    EXPECT_THAT(ids(db_json({"best"}).at("winners")), ElementsAre(3)) << "the winner, not the fastest";
}

TEST_F(InventedTrials, WhereNothingMatchesThatIsSaid) {
    for (const auto* command : {"best", "trials"}) {
        const auto none = db({command, "--sizes", "65"});
        EXPECT_EQ(none.code, 0);
        EXPECT_THAT(none.err, HasSubstr("no trial matches")) << command;
        EXPECT_EQ(db({command, "--sizes", "64"}).err, "") << command;
        EXPECT_EQ(db({command, "--sizes", "65", "--json"}).err, "") << command;
    }
}

TEST_F(InventedTrials, AreShownWithTheirRunByTheirNumber) {
    const auto shown = db_json({"show", "24"});
    EXPECT_EQ(shown.at("id"), 24);
    EXPECT_EQ(shown.at("configuration").at("TILE_WIDTH"), 24);
    EXPECT_EQ(shown.at("run").at("request").at("sizes"), "64");
    EXPECT_THAT(db({"show", "26"}).err, HasSubstr("there is no trial 26; see 'smemtune db trials --db t.db'"));
    for (const std::string word : {"1x", "x", "1.5", "", "99999999999999999999"}) {
        const auto finished = db({"show", word});
        EXPECT_EQ(finished.code, 2) << word;
        EXPECT_THAT(finished.err, HasSubstr("'" + word + "': not a trial's number")) << word;
    }
    EXPECT_THAT(db({"show"}).err, HasSubstr("db show needs a trial's number"));
}

}  // namespace
}  // namespace smemtune
