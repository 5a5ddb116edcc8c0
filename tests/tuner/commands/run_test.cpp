// Tests what `smemtune run` and `smemtune templates` print.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the number and the unit that follow `label` in `text`.
std::pair<double, std::string> quantity(const std::string& text, const std::string& label) {
    const auto at = text.find("\n  " + label);
    if (at == std::string::npos) return {0, "no line for " + label};
    std::istringstream words(text.substr(at + 3 + label.size()));
    std::pair<double, std::string> found;
    words >> found.first >> found.second;
    return found;
}

TEST(RunCommand, TheRateIsThatOfTheOperationsOrElseOfTheBytes) {
    const Scratch scratch;
    const auto expect_rate = [&](const std::string& size, const std::string& kernel, double amount,
                                 const std::string& rate_unit) {
        const auto finished =
            run(scratch, {"run", "--sizes", size, "--device", "host", "--templates", kernel, "--db", "none.db"});
        ASSERT_EQ(finished.code, 0) << finished.err;
        const auto [time, time_unit] = quantity(finished.out, "time");
        const auto seconds = time * (time_unit == "us" ? 1e-6 : time_unit == "ms" ? 1e-3 : 0);
        const auto [rate, unit] = quantity(finished.out, "rate");
        EXPECT_EQ(unit, rate_unit);
        const auto expected = amount / seconds / 1e9;
        EXPECT_NEAR(rate, expected, 0.01 + 0.02 * expected) << finished.out;
    };
    expect_rate("64", "naive", 524'288, "GFLOP/s");            // 2 * 64 * 64 * 64 operations
    expect_rate("512", "tiled_transpose", 2'097'152, "GB/s");  // 2 * 512 * 512 * 4 bytes, no operations
}

TEST(RunCommand, AnExactMatchNamesTheProblemAndDeviceThatItWasTunedFor) {
    const Scratch scratch;
    const std::vector<std::string> more{"--device", "host", "--templates", fixture("work"), "--db", "t.db", "--json"};
    std::vector<std::string> tune{"tune", "--sizes", "16", "--evaluations", "1"};
    tune.insert(tune.end(), more.begin(), more.end());
    ASSERT_EQ(run(scratch, tune).code, 0);
    for (const auto* size : {"16", "20"}) {
        std::vector<std::string> fetch{"run", "--sizes", size};
        fetch.insert(fetch.end(), more.begin(), more.end());
        const auto fetched = json::parse(run(scratch, fetch).out);
        EXPECT_EQ(fetched.at("match"), std::string(size) == "16" ? "exact" : "nearest");
        EXPECT_THAT(fetched.at("tuned_for").get<std::string>(), HasSubstr("16x16"));
        EXPECT_EQ(fetched.at("tuned_on"), fetched.at("device").at("name"));
        EXPECT_FALSE(fetched.contains("predicted_us"));
        EXPECT_FALSE(fetched.contains("unchecked"));
    }
}

// A copy of the template `work` in the folder k, which a test edits.
class OwnKernel : public ::testing::Test {
protected:
    OwnKernel() { std::filesystem::copy(fixture("work"), scratch / "k"); }

    void replace(const std::string& text, const std::string& by) const {
        std::stringstream source;
        source << std::ifstream(scratch / "k/work.cu").rdbuf();
        auto all = source.str();
        all.replace(all.find(text), text.size(), by);
        std::ofstream(scratch / "k/work.cu") << all;
    }
    [[nodiscard]] Finished with_options(std::vector<std::string> words) const {
        words.insert(words.end(), {"--device", "host", "--templates", "k", "--db", "t.db"});
        return run(scratch, words);
    }
    [[nodiscard]] Finished tune(const std::string& size) const {
        return with_options({"tune", "--sizes", size, "--evaluations", "1"});
    }

    const Scratch scratch;
};

TEST_F(OwnKernel, PrintsToStandardErrorSoThatJsonCanBeParsed) {
    replace("const Element one", "if (row == 0 && column == 0) printf(\"from the kernel\\n\");\n    const Element one");
    const auto finished = with_options({"run", "--sizes", "16", "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_FALSE(json::parse(finished.out, nullptr, false).is_discarded()) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr("from the kernel"));
}

TEST_F(OwnKernel, ThatEndsTheProcessIsAnErrorOfRunAndBench) {
    ASSERT_EQ(tune("16").code, 0);
    replace("extern \"C\" __global__", "extern \"C\" void _exit(int) noexcept;\nextern \"C\" __global__");
    replace("const Element one", "if (row == 5) _exit(0);\n    const Element one");
    for (const std::string command : {"run", "bench"}) {
        // `bench` compares what a fetch returns, because the winner is of another version of the kernel.
        auto words = std::vector<std::string>{command, "--sizes", "16", "--json"};
        if (command == "bench") words = {"bench", "--sizes", "16", "--served", "--json", "-"};
        const auto finished = with_options(words);
        EXPECT_EQ(finished.code, 3) << command;
        EXPECT_EQ(finished.out, "") << command;
        EXPECT_THAT(finished.err, HasSubstr("ended unexpectedly (exit code 0); correct them")) << command;
    }
    replace("_exit(0);\n", "*reinterpret_cast<volatile int*>(8) = 1;\n");
    EXPECT_THAT(with_options({"run", "--sizes", "16"}).err, HasSubstr("ended unexpectedly (Segmentation fault)"));
}

TEST_F(OwnKernel, AWinnerOfAnotherVersionIsNamedAndMarked) {
    ASSERT_EQ(tune("16").code, 0);
    EXPECT_EQ(with_options({"run", "--sizes", "16"}).err, "");
    replace("1024 * WORK", "1023 * WORK");
    const auto served = with_options({"run", "--sizes", "16"});
    EXPECT_EQ(served.code, 0);
    EXPECT_THAT(served.err,
                AllOf(HasSubstr("the stored winner work WORK="),
                      HasSubstr("is not served, because it is of another version of the kernel; tune again: "
                                "smemtune --device host --sizes 16 --templates k --db t.db\n")));
    const auto marked = with_options({"db", "best"});
    EXPECT_THAT(marked.out, HasSubstr("work (other version)"));
    EXPECT_THAT(marked.err, HasSubstr("1 winner is of another version"));
    EXPECT_THAT(run(scratch, {"db", "best", "--db", "t.db"}).out, Not(HasSubstr("other version")))
        << "nothing shows it yet";

    ASSERT_EQ(tune("20").code, 0);
    const auto winners = json::parse(run(scratch, {"db", "best", "--db", "t.db", "--json"}).out).at("winners");
    ASSERT_EQ(winners.size(), 2U);
    for (const auto& winner : winners) {
        EXPECT_EQ(winner.contains("other_version"), winner.at("problem").at("size") == "16x16") << winner;
    }
    ASSERT_EQ(tune("16").code, 0);
    EXPECT_EQ(with_options({"run", "--sizes", "16"}).err, "");
    EXPECT_THAT(with_options({"db", "best"}).out, Not(HasSubstr("other version")));

    replace("1023 * WORK", "1024 * WORK");
    EXPECT_THAT(with_options({"db", "best"}).out, HasSubstr("other version"));
    ASSERT_EQ(tune("16").code, 0);
    EXPECT_THAT(with_options({"db", "best", "--sizes", "16"}).out, Not(HasSubstr("other version")))
        << "the finals choose among known trials again";
}

TEST_F(OwnKernel, IsNotTunedIntoAFolderThatDoesNotExist) {
    const auto refused = run(scratch, {"tune", "--sizes", "16", "--evaluations", "1", "--device", "host", "--templates",
                                       "k", "--db", "typo/t.db"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--db typo/t.db: there is no folder "), HasSubstr("make it")));
    EXPECT_FALSE(std::filesystem::exists(scratch / "typo"));
}

TEST_F(OwnKernel, TheReasonsOfAnEarlierRunAreShownIfNothingIsRight) {
    replace("= value;", "= value + 1;");
    const auto first = tune("16");
    EXPECT_EQ(first.code, 1);
    EXPECT_THAT(first.out, HasSubstr("1 x work wrong: "));
    const auto second = tune("16");
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.out, AllOf(HasSubstr("rejected in earlier runs\n"), HasSubstr("1 x work wrong: ")));
}

TEST(TemplatesCommand, TellsTheHighestComputeCapability) {
    const Scratch scratch;
    EXPECT_THAT(run(scratch, {"templates", "wgmma_tiled", "--device", "sm_90"}).out,
                HasSubstr("compute capability 9.0 only\n"));
    EXPECT_THAT(run(scratch, {"templates", "wgmma_tiled", "--device", "sm_100"}).out,
                AllOf(HasSubstr("It cannot run on sm_100: runs up to compute capability 9.0 only."),
                      Not(HasSubstr("of them valid"))));
    EXPECT_THAT(run(scratch, {"explain", "wgmma_tiled", "--device", "sm_80"}).out,
                HasSubstr("NOT FEASIBLE on this device: needs compute capability 9.0"));
}

TEST(TemplatesCommand, TellsCompiledParametersFromRunTimeArguments) {
    const Scratch scratch;
    const std::vector<std::string> grouped{"--templates", fixture("grouped")};
    const auto templates = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "templates");
        words.insert(words.end(), grouped.begin(), grouped.end());
        return run(scratch, words).out;
    };
    const auto listed = json::parse(templates({"--json"})).at("templates").at(0);
    EXPECT_EQ(listed.at("runtime_parameters"), (json{"GROUP", "BACKWARDS"}));
    EXPECT_EQ(listed.at("parameters"), (json{{"GROUP", {2, 4, 8}}, {"THREADS", {32, 64}}, {"BACKWARDS", {0, 1}}}));
    EXPECT_EQ(listed.at("compute_capability"), 75);
    EXPECT_EQ(listed.at("host"), true);
    EXPECT_THAT(templates({}), HasSubstr("elements in groups (3 parameters)"));
    const auto text = templates({"grouped", "--size", "64", "--device", "sm_90"});
    EXPECT_THAT(text, HasSubstr("compute capability 7.5 and higher, and the host"));
    EXPECT_THAT(text, HasSubstr("12 configurations, 8 of them valid"));
    EXPECT_THAT(text, HasSubstr("One of 32, 64 [default: 32]"));
    EXPECT_THAT(text, Not(HasSubstr("[default: 32]; a run-time argument")));
    EXPECT_THAT(text, HasSubstr("[default: 4]; a run-time"));
    const auto one = run(scratch, {"templates", "--templates", fixture("work")}).out;
    EXPECT_THAT(one, HasSubstr("(1 parameter)"));
    EXPECT_THAT(run(scratch, {"templates", "work", "--templates", fixture("work"), "--device", "sm_90"}).out,
                HasSubstr("No rule removes any."));
}

}  // namespace
}  // namespace smemtune
