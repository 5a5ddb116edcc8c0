#include "util/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

namespace smemtune {
namespace {

using namespace std::chrono_literals;

constexpr auto enough = 10min;  // longer than these programs take on any machine

ProcessResult shell(const std::string& command, std::chrono::milliseconds limit = enough) {
    return run_process({"sh", "-c", command}, limit);
}

// Whether the process runs. A zombie, which has ended but was not waited for, does not run.
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
    const auto result = run_process({"head", "-c", "3000000", "/dev/zero"}, enough);
    EXPECT_EQ(result.output, std::string(3000000, '\0'));
}

TEST(Process, PassesArgumentsUntouched) {
    EXPECT_EQ(run_process({"printf", "%s|", "a b", "$HOME", "'*'", ""}, enough).output, "a b|$HOME|'*'||");
}

TEST(Process, TellsTheExitCode) { EXPECT_EQ(shell("exit 7").exit_code, 7); }

TEST(Process, TellsTheSignalThatEndedIt) { EXPECT_EQ(shell("kill -TERM $$").exit_code, 128 + SIGTERM); }

TEST(Process, TellsThatAProgramWasNotFound) {
    const auto result = run_process({"smemtune-no-such-program"}, enough);
    EXPECT_FALSE(result.started);
    EXPECT_NE(result.exit_code, 0);
}

TEST(Process, GivesTheProgramNoInput) { EXPECT_EQ(run_process({"cat"}, enough).exit_code, 0); }

TEST(Process, TheLimitEndsTheProgramAndItsChildren) {
    ProcessResult result;
    for (auto limit = 300ms; result.output.empty(); limit *= 2) {  // on a busy machine, the shell may start too late
        result = shell("sleep 86400 & echo $!; wait", limit);
    }
    EXPECT_TRUE(result.started);
    EXPECT_TRUE(result.timed_out);
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    const auto child = result.output.substr(0, result.output.find('\n'));
    ASSERT_FALSE(child.empty());
    for (int i = 0; i < 30'000 && runs(child); ++i) usleep(20'000);
    EXPECT_FALSE(runs(child));
}

TEST(Process, TheLimitHoldsForAProgramThatClosedItsOutput) {
    EXPECT_TRUE(shell("exec >&- 2>&-; sleep 86400", 300ms).timed_out);
}

TEST(Process, AProgramThatClosesItsOutputEarlyIsWaitedFor) {
    const auto result = shell("exec >&- 2>&-; sleep 0.3; exit 5");
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 5);
}

TEST(Process, TheLimitHoldsWhileSignalsArrive) {
    struct sigaction handler {};
    struct sigaction before {};
    handler.sa_handler = [](int) {};  // no SA_RESTART: the signal interrupts every wait
    sigaction(SIGALRM, &handler, &before);
    const itimerval often{{0, 20'000}, {0, 20'000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    const auto result = run_process({"sleep", "86400"}, 400ms);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_TRUE(result.timed_out);
}

// Applications may handle or ignore SIGCHLD. The library must be able to compile in both cases.
TEST(Process, AHostThatIgnoresItsChildrenStillSeesExitCodes) {
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &ignore, &before);
    const auto right = shell("echo out");
    const auto wrong = shell("exit 7");
    const auto parent = shell("sh -c 'exit 3'; echo $?");
    struct sigaction after {};
    sigaction(SIGCHLD, &before, &after);
    EXPECT_EQ(right.output, "out\n");
    EXPECT_EQ(right.exit_code, 0);
    EXPECT_EQ(wrong.exit_code, 7);
    EXPECT_EQ(parent.output, "3\n") << "the program waits for children of its own";
    EXPECT_EQ(after.sa_handler, SIG_IGN) << "the host's handler is the host's";
}

TEST(Process, AHostThatWaitsForAnyChildStillSeesExitCodes) {
    std::atomic<bool> done = false;
    std::jthread thief([&] {
        while (!done) waitpid(-1, nullptr, WNOHANG);
    });
    for (int i = 0; i < 10; ++i) EXPECT_EQ(shell("exit 7").exit_code, 7);
    done = true;
}

// Runs `work` in a child whose descriptors 0 to 2 are closed.
int exit_code_without_descriptors(int (*work)()) {
    const auto child = fork();
    if (child == 0) {
        for (const int descriptor : {0, 1, 2}) close(descriptor);
        _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Process, AHostWithoutStandardDescriptorsStillSeesOutput) {
    EXPECT_EQ(exit_code_without_descriptors(
                  [] { return shell("echo out; echo error >&2").output == "out\nerror\n" ? 0 : 1; }),
              0);
}

TEST(Process, APipeIsNeverAStandardDescriptor) {
    EXPECT_EQ(exit_code_without_descriptors([] {
                  const auto pipe = make_pipe();
                  return pipe.read_end > 2 && pipe.write_end > 2 && fcntl(0, F_GETFD) < 0 ? 0 : 1;
              }),
              0);
}

TEST(Process, APipeIsNeverTheOneStandardDescriptorThatIsFree) {
    for (const int free : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const auto child = fork();
        if (child == 0) {
            for (const int descriptor : {0, 1, 2}) dup2(open("/dev/null", O_RDWR), descriptor);
            close(free);
            const auto pipe = make_pipe();
            _exit(pipe.read_end > 2 && pipe.write_end > 2 && fcntl(free, F_GETFD) < 0 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0) << free;
    }
}

TEST(Process, AProgramFillsItsStandardDescriptors) {
    EXPECT_EQ(exit_code_without_descriptors([] {
                  close(3);  // this test may have inherited descriptor 3
                  open_standard_descriptors();
                  for (const int descriptor : {0, 1, 2}) {
                      if (fcntl(descriptor, F_GETFD) < 0) return 1;
                  }
                  return fcntl(3, F_GETFD) < 0 ? 0 : 2;
              }),
              0);
}

TEST(Process, OutputThatLooksLikeAnExitCodeIsOutput) {
    for (const std::string output : {"", "x", "\n", "\n\n", "\n5", "a\n5", "5", "a\n"}) {
        const auto result = run_process({"printf", "%s", output}, enough);
        EXPECT_EQ(result.output, output);
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_TRUE(result.started);
    }
}

TEST(Process, WithoutAnExitCodeItCountsAsKilledAndKeepsItsOutput) {
    const auto result = shell("echo out; kill -KILL $PPID");  // kills the shell that reports the exit code
    EXPECT_TRUE(result.started);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    EXPECT_EQ(result.output, "out\n");
}

TEST(Process, ALimitMayBeZeroOrLongerThanAnyWait) {
    EXPECT_TRUE(shell("sleep 86400", 0ms).timed_out);
    const auto result = shell("exit 3", std::chrono::hours(24 * 365));
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 3);
}

TEST(Process, LeavesNoDescriptorAndNoChildBehind) {
    const auto lowest_free = [] {
        const int descriptor = open("/dev/null", O_RDONLY);
        close(descriptor);
        return descriptor;
    };
    const auto before = lowest_free();
    for (int i = 0; i < 3; ++i) (void)shell("exit 1");
    (void)shell("sleep 86400", 50ms);
    EXPECT_EQ(lowest_free(), before);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left to be waited for";
}

TEST(Process, APipeClosesWhenAnotherProgramStarts) {
    const auto pipe = make_pipe();
    for (const int end : {pipe.read_end, pipe.write_end}) EXPECT_EQ(fcntl(end, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ASSERT_EQ(write(pipe.write_end, "x", 1), 1);
    char letter = 0;
    EXPECT_EQ(read(pipe.read_end, &letter, 1), 1);
    close(pipe.read_end);
    close(pipe.write_end);
    EXPECT_EQ(exit_code_without_descriptors([] {
                  const auto moved = make_pipe();
                  const auto closes = [](int end) { return (fcntl(end, F_GETFD) & FD_CLOEXEC) != 0; };
                  return closes(moved.read_end) && closes(moved.write_end) ? 0 : 1;
              }),
              0);
}

}  // namespace
}  // namespace smemtune
