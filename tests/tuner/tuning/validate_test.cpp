#include "tuner/tuning/validate.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Validate, TunesWithOtherSeedsStoresNothingAndTimesTheWinnersInTurn) {
    const Scratch scratch;
    const std::vector<std::string> tune{"tune",    "--device", "host",   "--templates", fixture("work"),
                                        "--sizes", "16",       "--json", "--db",        "t.db"};
    ASSERT_EQ(run(scratch, tune).code, 0);
    const auto stored = trials_in(scratch / "t.db");
    auto words = tune;
    words.insert(words.end(), {"--validate", "3", "--seed", "40"});
    const auto finished = run(scratch, words);
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(trials_in(scratch / "t.db"), stored);
    const auto report = json::parse(finished.out);
    EXPECT_EQ(report.at("seeds"), 3);
    const auto& problem = report.at("problems").at(0);
    EXPECT_EQ(problem.at("runs"), 3);
    EXPECT_EQ(problem.at("within_one_percent"), 3);
    ASSERT_EQ(problem.at("winners").size(), 1U) << "WORK=1 is nine times as fast as the slowest";
    EXPECT_EQ(problem.at("winners").at(0).at("configuration"), (json{{"WORK", 1}}));
    EXPECT_EQ(problem.at("winners").at(0).at("seeds"), (json{41, 42, 43}));
    EXPECT_EQ(problem.at("winners").at(0).at("stored"), true);
    EXPECT_GT(problem.at("winners").at(0).at("us"), 0);
}

TEST(Validate, AStoredWinnerOfAnEditedTemplateIsNotTimed) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    const std::vector<std::string> tune{"tune",    "--device", "host",   "--templates", folder,
                                        "--sizes", "16",       "--json", "--db",        "t.db"};
    ASSERT_EQ(run(scratch, tune).code, 0);
    auto source = read_text(folder / "work.cu");
    source.insert(source.find("    const int column"), "    if (M < 0) return;\n");
    write_text(folder / "work.cu", source);
    auto words = tune;
    words.insert(words.end(), {"--validate", "2"});
    const auto finished = run(scratch, words);
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto winners = json::parse(finished.out).at("problems").at(0).at("winners");
    ASSERT_EQ(winners.size(), 1U);
    EXPECT_EQ(winners.at(0).at("stored"), false);
}

Validation two_winners() {
    Validation validation{.problem = gemm(512, 512, 512), .runs = 5};
    const Configuration defaults{{{"TILE_WIDTH", 16}}};
    validation.winners = {{"tiled", {{{"TILE_WIDTH", 32}}}, defaults, {1, 2, 4}, false, 100, 0},
                          {"tiled", defaults, defaults, {3, 5}, false, 103, 0.03},
                          {"naive", {}, {}, {}, true, 150, 0.5}};
    return validation;
}

TEST(Validate, TheWorstIsThatOfARunNotOfWhatWasStored) {
    EXPECT_DOUBLE_EQ(two_winners().worst(), 0.03);
    EXPECT_EQ(two_winners().within(0.01), 3U);
    EXPECT_EQ(two_winners().within(0.05), 5U);
    EXPECT_EQ(two_winners().within(0.03), 5U) << "the margin itself counts";
}

TEST(Validate, TheTextSaysHowOftenAWinnerWasFoundAgain) {
    ValidationReport report{.problems = {two_winners()}, .seeds = 5};
    const auto text = to_text(report);
    EXPECT_THAT(text, HasSubstr("3 of 5 runs found a winner within 1 % of the fastest; the worst is 3.00 % behind"));
    EXPECT_THAT(text, HasSubstr("3 runs of 5          TILE_WIDTH=32"));
}

}  // namespace
}  // namespace smemtune
