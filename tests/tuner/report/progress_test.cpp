#include "tuner/report/progress.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>

#include <functional>
#include <stdexcept>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string written(std::FILE* file) {
    std::fflush(file);
    std::rewind(file);
    std::string text(100'000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

const Progress::Best best{"12 us", "tiled TILE_WIDTH=16"};

TEST(Progress, OutputThatCannotBeWrittenEndsNoRun) {
    auto* full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    {
        Progress progress(full, Progress::Style::redrawn, {.sizes = 1, .trials = 1});
        progress.say("the device, and the plan");
        progress.step("64x64x64", best, false);
        progress.finish("64x64x64", best, 1, 1, "");
    }
    std::fclose(full);
}

TEST(Progress, WritesALineForEachSizeAndAClosingOneWhereThereIsNoTerminal) {
    auto* file = std::tmpfile();
    {
        Progress progress(file, Progress::Style::redrawn, {.sizes = 2, .trials = 200});
        progress.say("the device, and the plan");
        for (const auto* size : {"64x64x64", "96x96x96"}) {
            for (int i = 0; i < 100; ++i) progress.step(size, best, i % 2 == 0);
            progress.finish(size, best, 100, 4, "all tried");
        }
        progress.finish("96x96x96", best, 100, 5, "all tried");
        progress.finish("64x64x64", {"11 us", "naive default"}, 101, 5, "");
    }
    EXPECT_EQ(written(file),
              "the device, and the plan\n"
              "[1/2] 64x64x64: 12 us tiled TILE_WIDTH=16; 100 trials, 4 s, all tried\n"
              "[2/2] 96x96x96: 12 us tiled TILE_WIDTH=16; 100 trials, 4 s, all tried\n"
              "[1/2] 64x64x64: 11 us naive default; 101 trials, 5 s\n"
              "done: 2 sizes, 200 trials (100 known before), 0 s\n")
        << "a second look that changes nothing is not reported";
}

TEST(Progress, SaysNothingWhenItIsNotWanted) {
    auto* file = std::tmpfile();
    {
        Progress progress(file, Progress::Style::silent, {.sizes = 1, .trials = 10});
        progress.say("a line");
        for (int i = 0; i < 10; ++i) progress.step("64", {}, i % 2 == 0);
        progress.finish("64", {}, 10, 1, "");
    }
    EXPECT_EQ(written(file), "");
}

TEST(Progress, OneOfSeveralBeginsItsLinesWithItsLabel) {
    auto* file = std::tmpfile();
    {
        Progress progress(file, Progress::Style::redrawn, {.sizes = 1}, "NVIDIA H200");
        progress.step("64", best, false);
        progress.finish("64", {}, 1, 1, "nothing was right");
    }
    EXPECT_EQ(written(file),
              "NVIDIA H200: [1/1] 64: nothing was right; 1 trial, 1 s, nothing was right\n"
              "NVIDIA H200: done: 1 size, 1 trial (0 known before), 0 s\n");
}

TEST(ProgressLine, SaysHowFarItIsBeforeTheBest) {
    ProgressState state{.size = 2, .sizes = 5, .size_text = "512x512x512"};
    EXPECT_EQ(progress_line(state), "[2/5] compiling the first candidates, 0 s");
    state.preparing = true;
    EXPECT_EQ(progress_line(state), "[2/5] computing inputs and reference outputs, 0 s");
    state.trials = 312;
    state.seconds = 42;
    EXPECT_EQ(progress_line(state), "[2/5] 512x512x512: 312 trials, 42 s");
    state.share = 0.41;
    state.left = 80;
    state.best_time = "12.5 us";
    state.best = "tiled TILE_WIDTH=32";
    EXPECT_EQ(progress_line(state),
              "[2/5] 512x512x512: 312 trials, 41 %, 42 s, about 1:20 min left; best 12.5 us tiled TILE_WIDTH=32");
    EXPECT_EQ(progress_line(state, 76), "[2/5] 512x512x512: 312 trials, 41 %, 42 s, about 1:20 min left; best 12.5 us");
}

TEST(ProgressLine, LeavesOutWhatMattersLessBeforeItCutsTheTime) {
    const ProgressState state{.size = 2,
                              .sizes = 5,
                              .size_text = "512x512x512",
                              .trials = 312,
                              .share = {},
                              .seconds = 42,
                              .left = 80,
                              .best_time = "12.5 us",
                              .best = "tiled TILE_WIDTH=32"};
    EXPECT_EQ(progress_line(state, 60), "[2/5] 512x512x512: 312 trials, 42 s; best 12.5 us tiled TILE");
    EXPECT_EQ(progress_line(state, 45), "[2/5] 312 trials, 42 s; best 12.5 us tiled TI");
}

// A terminal with `columns` columns. The progress writes to `file`; the test reads what the terminal shows.
class Terminal {
public:
    explicit Terminal(unsigned short columns) {
        const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        int terminal = 0;
        if (openpty(&keyboard_, &terminal, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
        file = fdopen(terminal, "w");
    }
    ~Terminal() {
        std::fclose(file);
        close(keyboard_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // Reads until `is_enough(text)` holds. Returns whether it held in time.
    bool reads_until(const std::function<bool(const std::string&)>& is_enough) {
        return soon([&] {
            char piece[4096];
            pollfd ready{keyboard_, POLLIN, 0};
            if (poll(&ready, 1, 0) == 1) {
                text.append(piece, static_cast<std::size_t>(read(keyboard_, piece, sizeof piece)));
            }
            return is_enough(text);
        });
    }

    std::FILE* file = nullptr;
    std::string text;  // everything that was read

private:
    int keyboard_ = 0;
};

TEST(Progress, NoMoreTimeIsLeftThanTheBudgetLeaves) {
    Terminal terminal(120);
    {
        Progress progress(terminal.file, Progress::Style::redrawn,
                          {.sizes = 1, .trials = std::size_t{1} << 62, .budget = 1h});
        progress.step("64", best, false);
        EXPECT_TRUE(terminal.reads_until([](const auto& text) { return text.find(" left") != std::string::npos; }));
    }
    EXPECT_THAT(terminal.text, ::testing::ContainsRegex(", about (1:00:00 h|59:[0-9]+ min) left"))
        << "the trials would take years";
}

// A trial that is recalled takes no time, so it does not tell how long the other trials will take.
TEST(Progress, RecalledTrialsAloneDoNotTellHowMuchTimeIsLeft) {
    for (const bool recalled : {true, false}) {
        Terminal terminal(120);
        {
            Progress progress(terminal.file, Progress::Style::redrawn, {.sizes = 1, .trials = 10});
            for (int i = 0; i < 5; ++i) progress.step("64", best, recalled);
            EXPECT_TRUE(terminal.reads_until(
                [](const auto& text) { return text.find("5 trials, 50 %") != std::string::npos; }));
        }
        EXPECT_EQ(terminal.text.find(" left") == std::string::npos, recalled) << terminal.text;
    }
}

TEST(Progress, RedrawsOneLineOnATerminalAndLeavesNoneBehind) {
    Terminal terminal(60);
    {
        Progress progress(terminal.file, Progress::Style::redrawn, {.sizes = 3, .trials = 10});
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(60ms);
            progress.step("64x64x64", {"12 us", std::string(200, 'x')}, false);
        }
    }
    // The output arrives in several writes, so the test reads until the last of them has arrived.
    const auto& text = terminal.text;
    EXPECT_TRUE(terminal.reads_until([](const auto& all) { return all.ends_with("\r\x1b[K"); })) << text;
    EXPECT_THAT(text, ::testing::StartsWith("\r[1/3] compiling the first candidates")) << "at once";
    EXPECT_THAT(text, HasSubstr("\r[1/3] 64x64x64: 2 trials, 20 %, "));
    EXPECT_THAT(text, HasSubstr("best 12 us"));
    EXPECT_THAT(text, Not(HasSubstr("\n"))) << "a line wider than the terminal would leave rests behind";
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\r', begin + 1), text.size());
        EXPECT_LE(end - begin, 59U + 4U) << "without its control characters it is narrower than 60 columns";
        begin = end;
    }
}

}  // namespace
}  // namespace smemtune
