// `smemtune portfolio` on the host device, and what an application then gets.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> portfolio(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"portfolio", "--device", "host", "--templates", fixture("work"), "--db", "t.db"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

json report_of(const Finished& finished) {
    EXPECT_EQ(finished.code, 0) << finished.err;
    return json::parse(finished.out);
}

TEST(PortfolioCommand, AFetchOfASizeThatNobodyTunedIsPredicted) {
    const Scratch scratch;
    const auto built = portfolio({"--shapes", "4", "--extents", "8..24", "--json"});
    const auto first = report_of(run(scratch, built));
    ASSERT_EQ(first.at("members").size(), 1);
    EXPECT_EQ(first.at("members").at(0).at("configuration").at("WORK"), 1);
    EXPECT_EQ(first.at("members").at(0).at("classes"), (json{"00", "01", "10", "11"}));
    EXPECT_EQ(first.at("samples").size(), 4);
    EXPECT_EQ(first.at("ended"), "complete");

    const auto again = report_of(run(scratch, built));
    EXPECT_EQ(again.at("measured"), 0) << "everything is known";
    EXPECT_EQ(again.at("members").at(0).at("coefficients"), first.at("members").at(0).at("coefficients"));

    const auto served = report_of(run(scratch, {"run", "--device", "host", "--templates", fixture("work"), "--sizes",
                                                "31x33", "--db", "t.db", "--json"}));
    EXPECT_EQ(served.at("match"), "predicted");
    EXPECT_EQ(served.at("configuration").at("WORK"), 1);
    EXPECT_GT(served.at("predicted_us"), 0);
    EXPECT_TRUE(served.at("correct"));
    EXPECT_THAT(served.at("why"), HasSubstr("predicted "));

    const auto tuned = first.at("samples").at(0).at("problem").at("size").get<std::string>();
    const auto exact = report_of(run(scratch, {"run", "--device", "host", "--templates", fixture("work"), "--sizes",
                                               tuned, "--db", "t.db", "--json"}));
    EXPECT_EQ(exact.at("match"), "exact");
}

TEST(PortfolioCommand, TakesTheSizesOfAFile) {
    const Scratch scratch;
    write_text(scratch / "shapes.txt", "16x8 3\n9\n");
    const auto report = report_of(run(scratch, portfolio({"--shapes-from", "shapes.txt", "--json"})));
    ASSERT_EQ(report.at("samples").size(), 2);
    EXPECT_EQ(report.at("samples").at(0).at("count"), 3);
}

TEST(PortfolioCommand, AMistakeIsNamedAndNothingIsStored) {
    const Scratch scratch;
    write_text(scratch / "shapes.txt", "16x8\n16x8x4\n");
    write_text(scratch / "none.txt", "# nothing\n");
    const auto error = [&](const std::vector<std::string>& more) {
        const auto finished = run(scratch, portfolio(more));
        EXPECT_EQ(finished.code, 2) << finished.err;
        return finished.err;
    };
    EXPECT_THAT(error({"--shapes-from", "shapes.txt"}), HasSubstr("shapes.txt, line 2: "));
    EXPECT_THAT(error({"--shapes-from", "none.txt"}), HasSubstr("none.txt holds no size"));
    EXPECT_THAT(error({"--shapes-from", "absent.txt"}), HasSubstr("absent.txt cannot be read"));
    for (const auto* range : {"12", "12..", "..12", "12..8", "0..8", "8..x", "x..8", "8...16"}) {
        EXPECT_THAT(error({"--extents", range}), HasSubstr(std::string("--extents ") + range)) << range;
    }
    EXPECT_FALSE(std::filesystem::exists(scratch / "t.db"));
}

}  // namespace
}  // namespace smemtune
