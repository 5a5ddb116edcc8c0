// Many threads fetch while another process tunes into the same database. Nothing is launched, so that ThreadSanitizer
// need not follow the fibers of the host device.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "runtime/host/host_backend.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

constexpr unsigned callers = 16;
constexpr std::int64_t shapes = 1000;
constexpr std::int64_t tuned_shapes = 10;  // 100, 200, ...

Problem shape(std::int64_t i) { return gemm(i, 64, 64); }

// Tunes further shapes, again and again, until it is killed; writes a byte to `begun` after the first.
[[noreturn]] void tune_on(const std::filesystem::path& database, const KernelTemplate& kernel, int begun) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Store store(database);
    for (std::int64_t turn = 0;; ++turn) {
        store_winner(store, host_device(), kernel, shape(2 * shapes + turn % 20), parse_configuration("TILE_WIDTH=8"),
                     10);
        if (turn == 0 && write(begun, "x", 1) != 1) _exit(1);
    }
}

TEST(FetchThreads, GetRightAnswersWhileAnotherProcessTunesIntoTheSameFile) {
    const TemporaryFolder scratch;
    const auto database = scratch / "tuning.db";
    const auto templates = load_templates(builtin_sources());
    const auto& kernel = find_template(templates, "tiled");
    {
        Store store(database);
        const auto configuration = parse_configuration("TILE_WIDTH=8");
        const auto code = must_compile(*host_compiler(), program_of(kernel, configuration, shape(1)));
        for (std::int64_t i = 1; i <= tuned_shapes; ++i) {
            store_winner(store, host_device(), kernel, shape(i * shapes / tuned_shapes), configuration, 10, &code);
        }
    }
    std::array<int, 2> begun{};
    ASSERT_EQ(pipe(begun.data()), 0);
    const auto tuner = fork();
    ASSERT_GE(tuner, 0);
    if (tuner == 0) tune_on(database, kernel, begun[1]);
    char byte = 0;
    ASSERT_EQ(read(begun[0], &byte, 1), 1);
    {
        Runtime runtime({.database = database, .device = "host", .host_compiler = "/nowhere/c++"});
        std::vector<std::jthread> running;
        for (unsigned thread = 0; thread < callers; ++thread) {
            running.emplace_back([&runtime, thread] {
                for (std::int64_t i = 0; i < shapes; ++i) {
                    const auto m = 1 + (i + thread * shapes / (2 * callers)) % shapes;
                    const auto fetched = runtime.fetch(shape(m));
                    const bool is_tuned = m % (shapes / tuned_shapes) == 0;
                    ASSERT_EQ(fetched.problem(), shape(m));
                    ASSERT_EQ(fetched.choice().match, is_tuned ? Match::exact : Match::nearest) << m;
                    ASSERT_EQ(fetched.choice().configuration, "TILE_WIDTH=8");
                }
            });
        }
    }
    EXPECT_EQ(waitpid(tuner, nullptr, WNOHANG), 0) << "still tuning";
    kill(tuner, SIGKILL);
    waitpid(tuner, nullptr, 0);
    close(begun[0]);
    close(begun[1]);
}

}  // namespace
}  // namespace smemtune
