// Tests right kernels, and kernels that each fail in a different way. To run the tests on a machine with a GPU:
//     export SMEMTUNE_TEST_DEVICE=0 SMEMTUNE_TEST_PROGRAM=./smemtune SMEMTUNE_TEST_FIXTURES=tests/fixtures
//     ./tuner_tests --gtest_filter='Fixtures.*'
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const bool on_host = test_device() == "host";
// On a GPU, the size is large enough to show which kernel is faster. On a CPU, the size must be small: the slowest
// kernel takes a second at size 64.
const std::string size = on_host ? "64" : "4194304";

// The expected failure of tests/fixtures/misbehaving for one value of its parameter BEHAVIOUR.
struct Failure {
    int behaviour;
    const char* stage;   // the rejection's stage; empty if the trial passes on this device
    const char* reason;  // part of the rejection's reason
};

std::vector<Failure> failures() {
    std::vector<Failure> list{{1, "wrong", "B[0,"},
                              {2, "crash", on_host ? "Segmentation fault" : "illegal"},
                              {3, "crash", on_host ? "Segmentation fault" : "illegal"},
                              {4, "timeout", "ran past its deadline of 10 s"},
                              {5, "compile", "this behaviour is not to be compiled"},
                              {6, "wrong", "is nan"},
                              {8, "limits", "shared bytes per block"},
                              {10, "limits", "empty"},
                              {9, "launch", on_host ? "a_function_that_is_nowhere" : "launch"}};
    // Behaviours 7 and 11 fail only on a GPU. Behaviour 7 exceeds a GPU's limit of 48 KiB for static arrays; a CPU has
    // no such limit. Behaviour 11 keeps 128 values in each of the 1,024 threads of a block: a GPU has too few registers
    // for such a block, and a CPU uses its stack.
    list.push_back({7, on_host ? "" : "limits", on_host ? "" : "static shared bytes per block"});
    list.push_back({11, on_host ? "" : "limits", on_host ? "" : "registers per block"});
    return list;
}

TEST(Fixtures, EachFailureIsOneRejectionAndTheRunGoesOnToTheRightWinner) {
    const Scratch scratch;
    const auto tuned =
        run(scratch, {"tune", "--device", test_device(), "--templates", fixture("misbehaving"), "--search",
                      "exhaustive", "--sizes", size, "--deadline", "10s", "--db", "tuned.db", "--json"});
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    const auto report = json::parse(tuned.out);
    ASSERT_EQ(report.at("problems").size(), 1U);
    EXPECT_EQ(report.at("problems").at(0).at("winner").at("configuration"), (json{{"BEHAVIOUR", 0}, {"WORK", 1}}));

    const auto trials = json::parse(run(scratch, {"db", "trials", "--db", "tuned.db", "--json"}).out).at("trials");
    EXPECT_THAT(run(scratch, {"db", "trials", "--db", "tuned.db", "--sizes", "777"}).err,
                HasSubstr("no trial matches. See 'smemtune db list --db tuned.db'"));
    EXPECT_EQ(trials.size(), 14U) << "nothing is tried twice";
    std::map<std::string, int> expected_counts;
    for (const auto& failure : failures()) {
        SCOPED_TRACE("BEHAVIOUR=" + std::to_string(failure.behaviour));
        std::vector<json> found;
        for (const auto& trial : trials) {
            if (trial.at("configuration").at("BEHAVIOUR") == failure.behaviour) found.push_back(trial);
        }
        ASSERT_EQ(found.size(), 1U);
        const auto& trial = found.front();
        EXPECT_EQ(trial.contains("rejection"), *failure.stage != '\0') << trial;
        if (!trial.contains("rejection")) continue;
        EXPECT_EQ(trial.at("rejection").at("stage"), failure.stage);
        EXPECT_THAT(trial.at("rejection").at("reason").get<std::string>(), HasSubstr(failure.reason));
        ++expected_counts[failure.stage];
    }
    EXPECT_EQ(report.at("rejected"), json(expected_counts));
}

TEST(Fixtures, TheRejectedAreNotTriedAgainButForOneRetryOfWhatCrashedOrTimedOut) {
    const Scratch scratch;
    const std::vector<std::string> command{
        "tune",       "--device", test_device(), "--templates", fixture("misbehaving"),
        "--sizes",    size,       "--deadline",  "3s",          "--search",
        "exhaustive", "--db",     "tuned.db",    "--json"};
    const auto report_of = [&] {
        const auto finished = run(scratch, command);
        EXPECT_EQ(finished.code, 0) << finished.err;
        return json::parse(finished.out);
    };
    const auto first = report_of().at("rejected");
    const auto second = report_of();
    const auto retried = first.value("crash", 0) + first.value("timeout", 0);
    EXPECT_GT(retried, 0);
    EXPECT_EQ(second.at("retried"), retried);
    EXPECT_EQ(second.at("recalled"), 14 - retried);
    EXPECT_LE(second.at("measured"), retried) << "a right kernel that was late on a busy machine";
    const auto third = report_of();
    EXPECT_EQ(third.at("retried"), 0);
    EXPECT_EQ(third.at("recalled"), 14);
    EXPECT_TRUE(third.at("rejected").empty());
}

TEST(Fixtures, NothingButFailuresIsExitCode1AndEachIsStored) {
    const Scratch scratch;
    const auto tuned = run(scratch, {"--device", test_device(), "--templates", fixture("endless"), "--sizes", "16",
                                     "--deadline", "1s", "--db", "tuned.db"});
    EXPECT_EQ(tuned.code, 1);
    EXPECT_THAT(tuned.out, HasSubstr("none was right"));
    EXPECT_THAT(tuned.out, HasSubstr("2 x endless timeout: ran past its deadline of 1 s"));
    EXPECT_EQ(trials_in(scratch / "tuned.db"), 2);
}

TEST(Fixtures, CheckedTrialsBelongToADeviceOfTheirOwn) {
    if (!on_host) GTEST_SKIP() << "a mode of the host device";
    const Scratch scratch;
    (void)run(scratch, {"tune", "--device", "host", "--checked", "--templates", fixture("misbehaving"), "--sizes", size,
                        "--deadline", "2s", "--db", "tuned.db"});
    const auto trials = json::parse(run(scratch, {"db", "trials", "--db", "tuned.db", "--json"}).out).at("trials");
    for (const auto& trial : trials) {
        EXPECT_THAT(trial.at("device_name").get<std::string>(), HasSubstr("(checked)"));
        if (trial.at("configuration").at("BEHAVIOUR") != 2) continue;
        EXPECT_THAT(trial.at("rejection").at("stage").get<std::string>(), "crash");
    }
}

}  // namespace
}  // namespace smemtune
