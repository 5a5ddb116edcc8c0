// Tests `db compare`, `db importance`, `db convergence` and `--csv` on databases that were tuned on the host device.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using DatabaseWords = std::vector<std::string>;

// a.db has all trials of `tiled` at sizes 16 and 48x16x16. b.db has a few trials of `naive` at 16 and 24x16x16.
class DatabaseAnalysis : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        scratch = std::make_unique<Scratch>();
        tune({"--sizes", "16,48x16x16", "--templates", "tiled", "--search", "exhaustive", "--db", "a.db"});
        tune({"--sizes", "16,24x16x16", "--templates", "naive", "--evaluations", "4", "--db", "b.db"});
    }
    static void TearDownTestSuite() { scratch.reset(); }

    static void tune(DatabaseWords words) {
        words.insert(words.end(), {"--device", "host"});
        const auto tuned = run(*scratch, words);
        ASSERT_EQ(tuned.code, 0) << tuned.err;
    }
    static std::string output_of(DatabaseWords words) {
        words.insert(words.begin(), "db");
        const auto finished = run(*scratch, words);
        EXPECT_EQ(finished.code, 0) << finished.err;
        return finished.out;
    }
    static json json_of(DatabaseWords words) {
        words.emplace_back("--json");
        return json::parse(output_of(std::move(words)));
    }
    static std::size_t lines_of(const std::string& text) {
        return static_cast<std::size_t>(std::ranges::count(text, '\n'));
    }

    static inline std::unique_ptr<Scratch> scratch;
};

TEST_F(DatabaseAnalysis, CompareSaysWhatOnlyOneDatabaseHolds) {
    const auto text = output_of({"compare", "a.db", "b.db"});
    EXPECT_THAT(text, AllOf(HasSubstr("1 winner in both"), HasSubstr("1 only in a.db, 1 only in b.db")));
    const auto winners = json_of({"compare", "a.db", "b.db"})["winners"];
    ASSERT_THAT(winners, SizeIs(3));
    EXPECT_EQ(winners[0]["first"]["template"], "tiled");
    EXPECT_EQ(winners[0]["second"]["template"], "naive");
    EXPECT_GT(winners[0]["ratio"], 0);
    EXPECT_TRUE(winners[1]["first"].is_null());
    EXPECT_FALSE(winners[1].contains("ratio"));
    EXPECT_TRUE(winners[2]["second"].is_null());
    EXPECT_THAT(json_of({"compare", "a.db", "b.db", "--sizes", "48x16x16"})["winners"], SizeIs(1));
    EXPECT_EQ(lines_of(output_of({"compare", "a.db", "b.db", "--csv"})), 1U + 3U);
}

TEST_F(DatabaseAnalysis, CompareOfADatabaseWithItselfIsEqual) {
    EXPECT_THAT(output_of({"compare", "a.db", "a.db"}),
                AllOf(HasSubstr("2 equal within noise; geometric mean 1.000x"), Not(HasSubstr("only in"))));
}

TEST_F(DatabaseAnalysis, CompareNeedsTwoDatabases) {
    EXPECT_EQ(run(*scratch, {"db", "compare", "a.db"}).code, 2);
    EXPECT_EQ(run(*scratch, {"db", "compare", "a.db", "absent.db"}).code, 4);
}

TEST_F(DatabaseAnalysis, ImportanceIsExactWhereEverythingWasTried) {
    const auto groups = json_of({"importance", "--db", "a.db"})["groups"];
    ASSERT_THAT(groups, SizeIs(2));
    EXPECT_EQ(groups[0]["template"], "tiled");
    if (groups[0].contains("too_little")) {
        EXPECT_THAT(output_of({"importance", "--db", "a.db"}), HasSubstr(groups[0]["too_little"].get<std::string>()));
    } else {
        EXPECT_EQ(groups[0]["exact"], true);
        EXPECT_THAT(output_of({"importance", "--db", "a.db", "--csv"}), StartsWith("best_value,"));
    }
    EXPECT_TRUE(json_of({"importance", "--db", "b.db"})["groups"][0].contains("too_little"));
}

TEST_F(DatabaseAnalysis, ConvergenceHasARowForEachProblem) {
    const auto problems = json_of({"convergence", "--db", "a.db"})["problems"];
    ASSERT_THAT(problems, SizeIs(2));
    const auto trials = json_of({"trials", "--db", "a.db", "--sizes", "16"})["trials"].size();
    EXPECT_EQ(problems[0]["evaluations"], trials);
    EXPECT_EQ(lines_of(output_of({"convergence", "--db", "a.db", "--csv"})),
              1 + problems[0]["steps"].size() + problems[1]["steps"].size());
    EXPECT_THAT(output_of({"convergence", "--db", "a.db"}), HasSubstr("█"));
    EXPECT_THAT(run(*scratch, {"db", "convergence", "--db", "a.db", "--templates", "tield"}).err,
                HasSubstr("no trial matches"));
}

TEST_F(DatabaseAnalysis, ListBestAndTrialsPrintCsv) {
    const auto trials = json_of({"trials", "--db", "a.db"})["trials"].size();
    const auto csv = output_of({"trials", "--db", "a.db", "--csv"});
    EXPECT_EQ(lines_of(csv), 1 + trials);
    EXPECT_THAT(csv, AllOf(HasSubstr("configuration.TILE_WIDTH"), HasSubstr("measurement.median_us")));
    EXPECT_EQ(lines_of(output_of({"best", "--db", "a.db", "--csv"})), 1U + 2U);
    EXPECT_EQ(lines_of(output_of({"list", "--db", "a.db", "--csv"})), 1U + 1U + 1U + 2U);
    const auto both = run(*scratch, {"db", "best", "--db", "a.db", "--csv", "--json"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("--json and --csv exclude each other"));
}

}  // namespace
}  // namespace smemtune
