#include "util/process.h"

#include <gmock/gmock.h>
#include <sys/time.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace smemtune {
namespace {

using namespace std::chrono_literals;

ProcessResult shell(const std::string& command, std::chrono::milliseconds limit = 20s) {
    return run_process({"sh", "-c", command}, limit);
}

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The process has ended; perhaps its parent has not collected it yet.
bool runs(const std::string& id) {
    std::ifstream status("/proc/" + id + "/stat");
    std::string text;
    std::getline(status, text);
    return !text.empty() && text.substr(text.rfind(')') + 2, 1) != "Z";
}

TEST(Process, KeepsWhatIsWrittenToOutputAndToError) {
    const auto result = shell("echo out; echo error >&2; echo out");
    EXPECT_TRUE(result.started);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output, "out\nerror\nout\n");
}

TEST(Process, KeepsOutputLargerThanAPipe) {
    const auto result = run_process({"head", "-c", "3000000", "/dev/zero"}, 20s);
    EXPECT_EQ(result.output, std::string(3000000, '\0'));
}

TEST(Process, PassesArgumentsUntouched) {
    EXPECT_EQ(run_process({"printf", "%s|", "a b", "$HOME", "'*'", ""}, 20s).output, "a b|$HOME|'*'||");
}

TEST(Process, TellsTheExitCode) { EXPECT_EQ(shell("exit 7").exit_code, 7); }

TEST(Process, TellsTheSignalThatEndedIt) { EXPECT_EQ(shell("kill -TERM $$").exit_code, 128 + SIGTERM); }

TEST(Process, TellsThatAProgramWasNotFound) {
    const auto result = run_process({"smemtune-no-such-program"}, 20s);
    EXPECT_FALSE(result.started);
    EXPECT_NE(result.exit_code, 0);
}

TEST(Process, GivesTheProgramNoInput) { EXPECT_EQ(run_process({"cat"}, 20s).exit_code, 0); }

TEST(Process, TheLimitEndsTheProgramAndItsChildren) {
    ProcessResult result;
    EXPECT_LT(seconds_of([&] { result = shell("sleep 30 & echo $!; wait", 300ms); }), 10);
    EXPECT_TRUE(result.started);
    EXPECT_TRUE(result.timed_out);
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    const auto child = result.output.substr(0, result.output.find('\n'));
    ASSERT_FALSE(child.empty());
    for (int i = 0; i < 100 && runs(child); ++i) usleep(20'000);
    EXPECT_FALSE(runs(child));
}

TEST(Process, TheLimitHoldsForAProgramThatClosedItsOutput) {
    ProcessResult result;
    EXPECT_LT(seconds_of([&] { result = shell("exec >&- 2>&-; sleep 30", 300ms); }), 10);
    EXPECT_TRUE(result.timed_out);
}

TEST(Process, AProgramThatClosesItsOutputEarlyIsWaitedFor) {
    const auto result = shell("exec >&- 2>&-; sleep 0.3; exit 5");
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 5);
}

TEST(Process, TheLimitHoldsWhileSignalsArrive) {
    struct sigaction handler {};
    struct sigaction before {};
    handler.sa_handler = [](int) {};  // without SA_RESTART: interrupts every wait
    sigaction(SIGALRM, &handler, &before);
    const itimerval often{{0, 20'000}, {0, 20'000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    ProcessResult result;
    EXPECT_LT(seconds_of([&] { result = run_process({"sleep", "30"}, 400ms); }), 10);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_TRUE(result.timed_out);
}

}  // namespace
}  // namespace smemtune
