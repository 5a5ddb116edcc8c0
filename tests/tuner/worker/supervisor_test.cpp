#include "tuner/worker/supervisor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace smemtune {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

constexpr int unexpected = 3;

TEST(SupervisorDeathTest, ACommandThatEndsByItselfGivesItsOwnCode) {
    EXPECT_EXIT(
        {
            supervise(unexpected);
            end_supervised();
            std::_Exit(7);
        },
        ExitedWithCode(7), "^$");
}

TEST(SupervisorDeathTest, AKernelThatEndsTheProcessIsAnError) {
    EXPECT_EXIT(
        {
            supervise(unexpected);
            std::_Exit(0);
        },
        ExitedWithCode(unexpected), "ended unexpectedly \\(exit code 0\\); correct them");
}

TEST(SupervisorDeathTest, AKernelThatCrashesIsAnError) {
    EXPECT_EXIT(
        {
            supervise(unexpected);
            std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
            (void)raise(SIGSEGV);
        },
        ExitedWithCode(unexpected), "ended unexpectedly \\(Segmentation fault\\); correct them");
}

TEST(SupervisorDeathTest, AProcessThatIsKilledIsAnError) {
    EXPECT_EXIT(
        {
            supervise(unexpected);
            (void)raise(SIGKILL);
        },
        ExitedWithCode(unexpected), "ended unexpectedly \\(Killed\\)\n$");
}

TEST(SupervisorDeathTest, ProcessesThatAKernelStartsNeitherDelayTheEndNorOutliveIt) {
    EXPECT_EXIT(
        {
            supervise(unexpected);
            if (fork() == 0) {
                for (;;) pause();
            }
            std::_Exit(0);
        },
        ExitedWithCode(unexpected), "ended unexpectedly");
}

TEST(SupervisorDeathTest, AStoppedProcessReceivesSignals) {
    EXPECT_EXIT(
        {
            const auto parent = getpid();
            std::signal(SIGTERM, SIG_IGN);  // until supervise() passes signals on
            supervise(unexpected);
            if (fork() == 0) {
                for (;;) {
                    usleep(50'000);
                    kill(parent, SIGTERM);
                }
            }
            std::signal(SIGTERM, SIG_DFL);
            (void)raise(SIGSTOP);
            for (;;) pause();
        },
        KilledBySignal(SIGTERM), "^$");
}

TEST(SupervisorDeathTest, AClosedPipeEndsTheProgramAsBefore) {
    EXPECT_EXIT(
        {
            std::signal(SIGPIPE, SIG_DFL);
            supervise(unexpected);
            (void)raise(SIGPIPE);
        },
        KilledBySignal(SIGPIPE), "^$");
}

TEST(SupervisorDeathTest, SignalsReachTheCommand) {
    EXPECT_EXIT(
        {
            static std::atomic<bool> came = false;
            std::signal(SIGTERM, SIG_IGN);  // until supervise() passes signals on
            supervise(unexpected);
            std::signal(SIGTERM, [](int) { came = true; });
            while (!came) {  // the first signals may come before the parent passes them on
                kill(getppid(), SIGTERM);
                usleep(10'000);
            }
            end_supervised();
            std::_Exit(7);
        },
        ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace smemtune
