// Tests many threads that fetch kernels while smemtune stores winners in the same database. The threads launch nothing,
// because ThreadSanitizer cannot follow the fibers of the host device.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "runtime/host/host_backend.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

constexpr unsigned callers = 16;
constexpr std::int64_t shapes = 1000;
constexpr std::int64_t tuned_shapes = 10;  // shape(100), shape(200), ..., shape(1000)

Problem shape(std::int64_t i) { return gemm(i, 64, 64); }

// Shapes that smemtune tunes while the threads fetch. A far_shape() never becomes the nearest winner of a shape(i),
// because a tuned shape(j) is always nearer.
Problem far_shape(std::int64_t i) { return gemm(200 + 8 * i, 16, 16); }
constexpr std::int64_t far_shapes = 2;

// A smemtune process that tunes far_shape(0) and far_shape(1).
class Tuner {
public:
    Tuner(const std::filesystem::path& database, const TemporaryFolder& scratch) : log_(scratch / "tuner.log") {
        std::string sizes;
        for (std::int64_t i = 0; i < far_shapes; ++i) sizes += (i == 0 ? "" : ",") + size_of(far_shape(i));
        process_ = fork();
        if (process_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int log = open(log_.c_str(), O_CREAT | O_WRONLY, 0600);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        setenv("CXX", SMEMTUNE_CXX, 1);
        execl(SMEMTUNE_PROGRAM, SMEMTUNE_PROGRAM, "--device", "host", "--templates", "tiled", "--sizes", sizes.c_str(),
              "--db", database.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    ~Tuner() {
        if (is_running()) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
    }
    Tuner(const Tuner&) = delete;
    Tuner& operator=(const Tuner&) = delete;

    bool is_running() {
        if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) != 0;
        return !ended_;
    }
    [[nodiscard]] int status() const { return status_; }
    [[nodiscard]] std::string log() const {
        std::ifstream file(log_);
        return SMEMTUNE_PROGRAM ": " + std::string(std::istreambuf_iterator<char>(file), {});
    }

private:
    static std::string size_of(const Problem& problem) {
        std::string text;
        for (const auto& [name, extent] : problem.extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
        return text;
    }

    std::filesystem::path log_;
    pid_t process_ = 0;
    int status_ = 0;
    bool ended_ = false;
};

void fetch_everything(const std::filesystem::path& database) {
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
            for (std::int64_t i = 0; i < far_shapes; ++i) {
                const auto match = runtime.fetch(far_shape(i)).choice().match;
                ASSERT_TRUE(match == Match::exact || match == Match::nearest) << to_text(match);
            }
        });
    }
}

TEST(FetchThreads, GetRightAnswersWhileSmemtuneTunesIntoTheSameFile) {
    const TemporaryFolder scratch;
    const auto database = scratch / "tuning.db";
    const auto& templates = builtin_templates();
    const auto& kernel = find_template(templates, "tiled");
    {
        Store store(database);
        const auto configuration = parse_configuration("TILE_WIDTH=8");
        const auto code = must_compile(*host_compiler(), program_of(kernel, configuration, shape(1)));
        for (std::int64_t i = 1; i <= tuned_shapes; ++i) {
            store_winner(store, host_device(), kernel, shape(i * shapes / tuned_shapes), configuration, 10, &code);
        }
    }
    ASSERT_TRUE(std::filesystem::exists(SMEMTUNE_PROGRAM)) << SMEMTUNE_PROGRAM " tunes meanwhile; build it first";
    Tuner tuner(database, scratch);
    do {
        fetch_everything(database);
    } while (tuner.is_running());
    ASSERT_EQ(tuner.status(), 0) << tuner.log();
    Runtime runtime({.database = database, .device = "host", .host_compiler = "/nowhere/c++"});
    for (std::int64_t i = 0; i < far_shapes; ++i) {
        EXPECT_EQ(runtime.fetch(far_shape(i)).choice().match, Match::exact) << tuner.log();
    }
}

}  // namespace
}  // namespace smemtune
