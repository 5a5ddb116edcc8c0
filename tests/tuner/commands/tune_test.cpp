// Tests what `smemtune tune` says and records besides the results, and its exit codes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support/held_run.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Finished tune(const Scratch& scratch, const std::vector<std::string>& more, const std::string& device = "host") {
    std::vector<std::string> words{"tune", "--device", device, "--templates", fixture("work"), "--db", "t.db"};
    words.insert(words.end(), more.begin(), more.end());
    return run(scratch, words);
}

// Returns a folder with the kernel `work`, in which each thread first executes `line`.
std::filesystem::path kernel_with(const Scratch& scratch, const std::string& line) {
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    auto source = read_text(folder / "work.cu");
    source.insert(source.find("    const int column"), line);
    write_text(folder / "work.cu", source);
    return folder;
}

TEST(TuneCommand, TheDatabaseRecordsTheRequest) {
    const Scratch scratch;
    ASSERT_EQ(tune(scratch, {"--sizes", "16,24", "--search", "random", "--evaluations", "2", "--patience", "7",
                             "--seed", "3", "--budget", "10m", "--deadline", "20s", "--retune"})
                  .code,
              0);
    ASSERT_EQ(tune(scratch, {"--sizes", "16", "--evaluations", "1"}).code, 0);
    const Store store(scratch / "t.db", Store::Access::read);
    EXPECT_EQ(json::parse(store.recall_run(1)->record.request), (json{{"sizes", "16,24"},
                                                                      {"templates", fixture("work")},
                                                                      {"search", "random"},
                                                                      {"type", "f32"},
                                                                      {"layout", "nn"},
                                                                      {"seed", 3},
                                                                      {"operation", ""},
                                                                      {"retune", true},
                                                                      {"deadline", "20s"},
                                                                      {"objective", "time"},
                                                                      {"patience", 7},
                                                                      {"evaluations", 2},
                                                                      {"budget_seconds", 600}}));
    EXPECT_EQ(json::parse(store.recall_run(2)->record.request), (json{{"sizes", "16"},
                                                                      {"templates", fixture("work")},
                                                                      {"search", "auto"},
                                                                      {"type", "f32"},
                                                                      {"layout", "nn"},
                                                                      {"seed", 1},
                                                                      {"operation", ""},
                                                                      {"retune", false},
                                                                      {"deadline", "30s"},
                                                                      {"objective", "time"},
                                                                      {"patience", 70},
                                                                      {"evaluations", 1}}));
    EXPECT_EQ(store.recall_run(2)->how, "complete");
}

TEST(TuneCommand, TheFirstLinesSayHowMuchThereIsToTryAndHowMuchIsKnown) {
    const Scratch scratch;
    const auto first = tune(scratch, {"--sizes", "16,24", "--evaluations", "4", "--search", "random"}, "host,host");
    EXPECT_EQ(first.code, 0);
    EXPECT_THAT(first.err, AllOf(::testing::StartsWith("2 x "), HasSubstr(": 2 sizes, 1 template\n"),
                                 HasSubstr("\n18 configurations in all, into t.db\n")));
    const auto second = tune(scratch, {"--sizes", "16,32", "--evaluations", "5"});
    EXPECT_THAT(second.err, Not(HasSubstr("2 x ")));
    EXPECT_THAT(second.err, HasSubstr("\n18 configurations in all, 4 of 18 known from earlier runs, into t.db\n"));
    const auto again = tune(scratch, {"--sizes", "16", "--evaluations", "1", "--retune"});
    EXPECT_THAT(again.err, HasSubstr("\n9 configurations in all, into t.db\n")) << "what is forgotten is not known";
    const auto validated = tune(scratch, {"--sizes", "16", "--evaluations", "1", "--validate", "2"});
    EXPECT_THAT(validated.err, HasSubstr("\n9 configurations in all, into databases that are thrown away\n"));
}

TEST(TuneCommand, AfterASpentBudgetTheCommandWithoutRetuneGoesOn) {
    const Scratch scratch;
    const auto cut = tune(scratch, {"--sizes", "16..2048", "--budget", "1s", "--retune", "--json"});
    EXPECT_EQ(cut.code, 0) << "a size without a winner is no failure then";
    EXPECT_EQ(json::parse(cut.out).at("ended"), "budget");
    EXPECT_THAT(cut.err, ::testing::MatchesRegex("the budget is spent; run the same command without --retune to go on "
                                                 "\\(. of 8 sizes without a winner\\)\n"));
}

TEST(TuneCommand, ASpentBudgetIsAFailureIfEverythingThatWasTriedWasRejected) {
    const Scratch scratch;
    const auto folder = kernel_with(scratch, "    for (volatile int i = 0; M == 16; i = i + 1) {}\n");
    const auto cut = run(scratch, {"tune", "--device", "host", "--templates", folder, "--db", "t.db", "--sizes", "16",
                                   "--deadline", "1s", "--budget", "2s"});
    EXPECT_EQ(cut.code, 1);
    EXPECT_THAT(cut.err, HasSubstr("the budget is spent; run the same command to go on (1 of 1 size without a "));
}

TEST(TuneCommand, TheBudgetStopsATrialThatHangsAndStoresNothing) {
    const Scratch scratch;
    const auto folder = kernel_with(scratch, "    for (volatile int i = 0; M == 16; i = i + 1) {}\n");
    const auto begin = std::chrono::steady_clock::now();
    const auto cut = run(scratch, {"tune", "--device", "host", "--templates", folder, "--db", "t.db", "--sizes", "16",
                                   "--deadline", "10m", "--budget", "1s", "--json"});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2min);
    EXPECT_EQ(cut.code, 1);
    EXPECT_THAT(cut.err, HasSubstr("1 trial was stopped because the budget was spent, and not stored; if the kernel "
                                   "hangs, give a --deadline shorter than the budget"));
    EXPECT_EQ(json::parse(cut.out).at("unfinished"), 1);
    EXPECT_EQ(json::parse(cut.out).at("ended"), "budget");
    EXPECT_EQ(json::parse(run(scratch, {"db", "trials", "--db", "t.db", "--json"}).out).at("trials"), json::array());
}

TEST(TuneCommand, AReferenceThatHangsIsAnErrorThatNamesIt) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("misbehaving"), folder);
    auto source = read_text(folder / "reference.cu");
    source.insert(source.find("    value[i] ="), "    for (volatile int k = 0; k >= 0; k = 0) {}\n");
    write_text(folder / "reference.cu", source);
    const auto error = [&](const std::string& command, const std::string& seconds, const std::string& remedy) {
        const auto ended = run(scratch, {command, "--device", "host", "--templates", folder, "--db", "t.db", "--sizes",
                                         "64", "--deadline", "1s"});
        EXPECT_EQ(ended.code, 3);
        EXPECT_THAT(ended.err, HasSubstr("smemtune: scaling f32 64: computing inputs and reference outputs (the kernel "
                                         "'reference' of reference.cu) took longer than " +
                                         seconds + " s; make sure that this code ends, " + remedy));
    };
    error("tune", "10", "tune smaller sizes, or give a longer --deadline: ten times the deadline is allowed\n");
    error("run", "1", "choose a smaller size, or give a longer --deadline\n");
    const auto cut = run(scratch, {"tune", "--device", "host", "--templates", folder, "--db", "t.db", "--sizes", "64",
                                   "--deadline", "10m", "--budget", "1s", "--json"});
    EXPECT_EQ(cut.code, 1);
    EXPECT_EQ(json::parse(cut.out).at("unprepared"), 1);
    EXPECT_THAT(cut.err, HasSubstr("the inputs and reference outputs of 1 size were not ready when the budget was"));
}

TEST(RunCommand, AKernelThatHangsIsAnErrorThatNamesIt) {
    const Scratch scratch;
    const auto folder = kernel_with(scratch, "    for (volatile int i = 0; M == 16; i = i + 1) {}\n");
    const auto ended = run(scratch, {"run", "--device", "host", "--templates", folder, "--db", "t.db", "--sizes", "16",
                                     "--deadline", "1s"});
    EXPECT_EQ(ended.code, 3);
    EXPECT_THAT(ended.err, HasSubstr("smemtune: transpose f32 16x16: verifying and timing the kernel work took longer "
                                     "than 1 s; "));
}

TEST(TuneCommand, WhereNoKernelIsRightNothingIsFound) {
    const Scratch scratch;
    const auto folder = kernel_with(scratch, "    if (M == 24) return;\n");
    const auto code_of = [&](const std::string& sizes, const std::vector<std::string>& more) {
        std::vector<std::string> words{"tune", "--device", "host", "--templates",   folder, "--db",
                                       "t.db", "--sizes",  sizes,  "--evaluations", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return run(scratch, words).code;
    };
    EXPECT_EQ(code_of("16", {}), 0);
    EXPECT_EQ(code_of("16,24", {}), 1);
    EXPECT_EQ(code_of("16", {"--validate", "2"}), 0);
    EXPECT_EQ(code_of("16,24", {"--validate", "2"}), 1);
}

TEST(TuneCommand, WhereNoConfigurationIsValidTheRuleIsNamed) {
    const Scratch scratch;
    const auto tuned =
        run(scratch, {"--device", "host", "--templates", "matrix_vector", "--sizes", "16", "--db", "t.db"});
    EXPECT_EQ(tuned.code, 1);
    EXPECT_THAT(tuned.out, HasSubstr("none is valid"));
    EXPECT_THAT(tuned.out, HasSubstr("matrix_vector has no valid configuration for gemm f32 nn 16x16x16"));
    EXPECT_THAT(tuned.err, HasSubstr("nothing is valid"));
}

TEST(TuneCommand, AReportShowsTheTrialsOfThisDeviceAndOperationAndExcludesAValidation) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch,
                  {"--device", "host", "--sizes", "17", "--templates", "naive", "--evaluations", "1", "--db", "t.db"})
                  .code,
              0);
    ASSERT_EQ(tune(scratch, {"--sizes", "19", "--evaluations", "1", "--report", "page.html"}).code, 0);
    const auto page = read_text(scratch / "page.html");
    EXPECT_THAT(page, HasSubstr("transpose"));
    EXPECT_THAT(page, Not(HasSubstr("17x17x17")));
    const auto both = tune(scratch, {"--sizes", "16", "--report", "other.html", "--validate", "2"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("--validate stores nothing that --report could show"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "other.html"));
}

// Kernels in checked mode are many times slower, so their times are stored for a device of their own.
TEST(TuneCommand, CheckedTrialsAreThoseOfAnotherDevice) {
    const Scratch scratch;
    for (const auto& more : {std::vector<std::string>{}, {"--checked"}}) {
        auto words = more;
        words.insert(words.end(), {"--sizes", "16", "--evaluations", "1", "--json"});
        const auto finished = tune(scratch, words);
        ASSERT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(json::parse(finished.out).at("measured"), 1);
    }
    const auto devices = Store(scratch / "t.db", Store::Access::read).devices();
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_NE(devices[0].second, devices[1].second);
}

class TuneInterrupted : public HeldRun {};

TEST_F(TuneInterrupted, SaysHowToGoOnWithWhatIsStored) {
    for (const bool retune : {false, true}) {
        std::filesystem::remove_all(scratch_ / "entered");
        std::vector<std::string> words{"tune", "--device", "host",    "--templates", held("work", "true"),
                                       "--db", "t.db",     "--sizes", "16",          "--deadline",
                                       "10m",  "--json"};
        if (retune) words.emplace_back("--retune");
        Running running(scratch_, words);
        ASSERT_TRUE(soon([&] { return has_entered(); }));
        interrupt(running);
        const auto finished = running.wait();
        EXPECT_EQ(finished.code, 130);
        EXPECT_THAT(finished.err, HasSubstr(retune ? "run the same command without --retune to go on"
                                                   : "everything finished is stored; run the same command to go on"));
    }
}

}  // namespace
}  // namespace smemtune
