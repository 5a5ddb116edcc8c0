// Runs `smemtune bench` on the host device.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BenchCommand : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        scratch = std::make_unique<Scratch>();
        for (const auto& [database, sizes] : {std::pair{"a.db", "16,24"}, {"b.db", "24"}}) {
            const auto tuned = run(*scratch, {"--device", "host", "--sizes", sizes, "--templates", "naive",
                                              "--evaluations", "2", "--db", database});
            ASSERT_EQ(tuned.code, 0) << tuned.err;
        }
    }
    static void TearDownTestSuite() { scratch.reset(); }

    static Finished bench(std::vector<std::string> more, const Variables& variables = {}) {
        std::vector<std::string> words{"bench", "--device", "host", "--db", "a.db", "--pairs", "6"};
        words.insert(words.end(), more.begin(), more.end());
        return run(*scratch, words, variables);
    }

    static inline std::unique_ptr<Scratch> scratch;
};

TEST_F(BenchCommand, ComparesEveryStoredWinnerWithThoseOfAnotherDatabase) {
    const auto finished = bench({"--against", "b.db"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, AllOf(HasSubstr("gemm f32 nn 16x16x16"), HasSubstr("gemm f32 nn 24x24x24")));
    EXPECT_THAT(finished.out, HasSubstr("no winner is stored for it")) << "16 in b.db";
    EXPECT_THAT(finished.out, HasSubstr("geometric mean, cold, against b.db: "));
    EXPECT_THAT(finished.out, HasSubstr("over 1 problem: "));
}

TEST_F(BenchCommand, WithoutAVendorsLibraryOursIsTimedAllTheSame) {
    const auto finished = bench({"--sizes", "16"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.err, HasSubstr("cuBLAS needs a GPU; compared without it"));
    EXPECT_THAT(finished.out, AllOf(HasSubstr("gemm f32 nn 16x16x16"), Not(HasSubstr("geometric mean"))));
}

TEST_F(BenchCommand, AProblemWithoutAWinnerIsToldWithTheRemedyAndTheOthersAreMeasured) {
    const auto finished = bench({"--sizes", "24,32x16x8", "--against", "b.db"});
    EXPECT_EQ(finished.code, 1);
    EXPECT_THAT(finished.err, HasSubstr("no winner is stored for gemm f32 nn 32x16x8; tune it: smemtune --device host "
                                        "--sizes 32x16x8 --db a.db\n"));
    EXPECT_THAT(finished.out, HasSubstr("gemm f32 nn 24x24x24"));
}

TEST_F(BenchCommand, TheRemedyNamesTheOperationAndItsFolders) {
    const auto batched = bench({"--operation", "batched_gemm", "--sizes", "2x8x8x8", "--against", "b.db"});
    EXPECT_EQ(batched.code, 1);
    EXPECT_THAT(batched.err, HasSubstr("tune it: smemtune --device host --operation batched_gemm --sizes 2x8x8x8 --db "
                                       "a.db\n"));
    const auto mine =
        bench({"--operation", "transpose", "--templates", fixture("work"), "--sizes", "8x4", "--against", "b.db"});
    EXPECT_EQ(mine.code, 1);
    EXPECT_THAT(mine.err, HasSubstr("tune it: smemtune --device host --operation transpose --sizes 8x4 --templates " +
                                    fixture("work") + " --db a.db\n"));
}

TEST_F(BenchCommand, TheJsonRecordsTheCommandLineAsAShellTakesIt) {
    const auto finished = bench({"--sizes", "16", "--against", "b.db", "--json", "it's.json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(json::parse(read_text(*scratch / "it's.json")).at("command_line"),
              R"(smemtune bench --device host --db a.db --pairs 6 --sizes 16 --against b.db --json 'it'\''s.json')");
}

TEST_F(BenchCommand, TheJsonOnStandardOutputIsTheOnlyThingThere) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"--json"}, {"--json", "-"}}) {
        auto more = words;
        more.insert(more.begin(), {"--against", "b.db"});
        const auto finished = bench(more, {{"COMMIT", "f00d"}});
        EXPECT_EQ(finished.code, 0);
        const auto report = json::parse(finished.out, nullptr, false);
        ASSERT_FALSE(report.is_discarded()) << finished.out;
        EXPECT_EQ(report["commit"], "f00d");
        EXPECT_EQ(report["problems"].size(), 2U);
        EXPECT_EQ(report["geometric_means"][0]["against"], "b.db");
        EXPECT_TRUE(report["complete"]);
    }
}

TEST_F(BenchCommand, AnEarlierFileIsComparedRatioByRatio) {
    const auto first = bench({"--against", "b.db", "--json", "first.json"});
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr("geometric mean")) << "text as well";
    auto report = json::parse(read_text(*scratch / "first.json"));
    for (auto& problem : report["problems"]) {
        auto& against = problem["caches"]["cold"]["against"]["b.db"];
        if (!against.contains("ratio")) continue;
        // Edits the first report, as if our kernels had been a thousand times as fast in that run.
        against["ratio"] = 1000 * against["ratio"].get<double>();
        for (auto& end : against["interval"]) end = 1000 * end.get<double>();
    }
    report["commit"] = "0ld";
    write_text(*scratch / "earlier.json", report.dump());
    const auto second = bench({"--against", "b.db,earlier.json"});
    EXPECT_EQ(second.code, 0) << "a figure that fell is no failure of the comparison";
    EXPECT_THAT(second.out, HasSubstr("since earlier.json (commit 0ld, "));
    EXPECT_THAT(second.out, HasSubstr("1 ratios compared: 1 fell and 0 rose by more than noise\n  FELL "));
}

TEST_F(BenchCommand, PairsThatGiveNoIntervalAreRefused) {
    const auto finished = run(*scratch, {"bench", "--device", "host", "--db", "a.db", "--pairs", "5"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("--pairs 5 give no interval of 95 % confidence; take 6 or more"));
}

TEST_F(BenchCommand, AnotherDatabaseGoesByItsFileNameWhereverItLies) {
    const std::string path = *scratch / "b.db";
    const auto finished = bench({"--sizes", "24", "--against", path, "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(json::parse(finished.out, nullptr, false)["against"], (json{{"b.db", "b.db"}}));
    EXPECT_THAT(finished.out, Not(HasSubstr(path)));
    EXPECT_EQ(json::parse(finished.out, nullptr, false)["command_line"],
              "smemtune bench --device host --db a.db --pairs 6 --sizes 24 --against b.db --json");
    const auto twice = bench({"--against", "b.db," + path});
    EXPECT_EQ(twice.code, 2);
    EXPECT_THAT(twice.err, HasSubstr("--against names b.db twice; give one of the two another file name"));
}

TEST_F(BenchCommand, AJsonFileThatCannotBeWrittenIsFoundOutBeforeAnythingIsMeasured) {
    for (const auto* file : {"none/x.json", "."}) {
        const auto finished = bench({"--against", "b.db", "--json", file});
        EXPECT_EQ(finished.code, 2);
        EXPECT_THAT(finished.err, HasSubstr("--json " + std::string(file) + " cannot be written"));
    }
    const auto refused = bench({"--sizes", "nonsense", "--json", "new.json"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_FALSE(std::filesystem::exists(*scratch / "new.json")) << "trying leaves nothing behind";
}

TEST_F(BenchCommand, TheHelpTeaches) {
    const auto finished = run(*scratch, {"bench", "--help"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.out, AllOf(HasSubstr("--against"), HasSubstr("cublaslt"), HasSubstr("95 % confidence"),
                                    HasSubstr("smemtune bench --against cublas,earlier.json")));
}

}  // namespace
}  // namespace smemtune
