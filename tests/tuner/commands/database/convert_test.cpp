// Tests `smemtune db export --format` and `smemtune db convert`.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// t.db has all trials of `tiled` at two sizes.
class ResultFiles : public ::testing::Test {
protected:
    void SetUp() override {
        const auto tuned = run(scratch, {"--sizes", "16,48x16x16", "--templates", "tiled", "--search", "exhaustive",
                                         "--device", "host", "--db", "t.db"});
        ASSERT_EQ(tuned.code, 0) << tuned.err;
    }
    Finished exported(const std::string& format, const std::string& file, const std::string& sizes) const {
        return run(scratch, {"db", "export", "--format", format, "--sizes", sizes, file, "--db", "t.db"});
    }
    void expect_converts(const std::string& format, const std::string& from, const std::string& to) const {
        const auto finished = run(scratch, {"db", "convert", "--to", format, from, to});
        EXPECT_EQ(finished.code, 0) << finished.err;
    }
    json read(const std::string& file) const { return json::parse(read_text(scratch / file)); }

    Scratch scratch;
};

TEST_F(ResultFiles, EveryTrialIsExportedWithItsOutcomeAndComesBackFromT4AndCsv) {
    ASSERT_EQ(exported("kernel-tuner", "cache.json", "16").code, 0);
    const auto cache = read("cache.json");
    const auto trials =
        json::parse(run(scratch, {"db", "trials", "--sizes", "16", "--json", "--db", "t.db"}).out)["trials"];
    ASSERT_EQ(cache["cache"].size(), trials.size());
    EXPECT_EQ(cache["kernel_name"], "tiled");
    EXPECT_EQ(cache["problem_size"], (json{16, 16, 16}));
    for (const auto& trial : trials) {
        std::string key;
        for (const auto& name : cache["tune_params_keys"])
            key += (key.empty() ? "" : ",") + trial["configuration"][name.get<std::string>()].dump();
        const auto& entry = cache["cache"].at(key);
        if (trial.contains("measurement")) {
            EXPECT_DOUBLE_EQ(entry["time"].get<double>(), trial["measurement"]["median_us"].get<double>() / 1000);
        } else {
            EXPECT_TRUE(entry["time"].is_string()) << entry;
            EXPECT_EQ(entry["reason"], trial["rejection"]["reason"]);
        }
    }
    expect_converts("t4", "cache.json", "t4.json");
    expect_converts("csv", "t4.json", "t.csv");
    expect_converts("kernel-tuner", "t.csv", "back.json");
    EXPECT_EQ(read("back.json"), cache);
}

TEST_F(ResultFiles, AFormatOfOneProblemRefusesTwoAndCsvHoldsBoth) {
    const auto refused = exported("t4", "two.json", "16,48x16x16");
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("choose one with --device, --templates and --sizes"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "two.json"));
    EXPECT_THAT(exported("csv", "two.csv", "16,48x16x16").out, HasSubstr("of 2 problems"));
}

TEST_F(ResultFiles, AFileThatExistsIsLeftAlone) {
    write_text(scratch / "mine.csv", "mine");
    EXPECT_EQ(exported("csv", "mine.csv", "16").code, 2);
    EXPECT_EQ(read_text(scratch / "mine.csv"), "mine");
}

TEST_F(ResultFiles, MistakesAreNamed) {
    EXPECT_EQ(exported("csv", "none.csv", "17").code, 1);
    EXPECT_FALSE(std::filesystem::exists(scratch / "none.csv"));
    const auto filtered = run(scratch, {"db", "export", "--sizes", "16", "w.db", "--db", "t.db"});
    EXPECT_EQ(filtered.code, 2);
    EXPECT_THAT(filtered.err, HasSubstr("--sizes chooses trials, which only --format writes"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "w.db"));
    const auto absent = run(scratch, {"db", "convert", "--to", "csv", "absent.json", "x.csv"});
    EXPECT_EQ(absent.code, 2);
    EXPECT_THAT(absent.err, HasSubstr("absent.json"));
    EXPECT_EQ(run(scratch, {"db", "convert", "absent.json", "x.csv"}).code, 2);
    EXPECT_EQ(run(scratch, {"db", "export", "--format", "csv", "--winners", "x", "--db", "t.db"}).code, 2);
}

}  // namespace
}  // namespace smemtune
