#include "tuner/report/progress.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>

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

TEST(Progress, WritesPlainLinesWhereThereIsNoTerminal) {
    auto* file = std::tmpfile();
    {
        Progress progress(file, true, 100);
        progress.say("the device, and what is planned");
        for (int i = 0; i < 100; ++i) progress.step("64x64x64", "best tiled TILE_WIDTH=16, 12 us", false);
    }
    const auto text = written(file);
    EXPECT_THAT(text, HasSubstr("the device, and what is planned\n"));
    EXPECT_THAT(text, HasSubstr("done: 100/100 trials"));
    EXPECT_THAT(text, HasSubstr("64x64x64: best tiled TILE_WIDTH=16, 12 us\n"));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_LE(std::ranges::count(text, '\n'), 4) << "now and then, not for every trial";
}

TEST(Progress, SaysNothingWhenItIsNotWanted) {
    auto* file = std::tmpfile();
    {
        Progress progress(file, false, 10);
        progress.say("a line");
        for (int i = 0; i < 10; ++i) progress.step("64", "", i % 2 == 0);
    }
    EXPECT_EQ(written(file), "");
}

TEST(Progress, RedrawsOneLineOnATerminalAndLeavesNoneBehind) {
    int terminal = 0;
    int keyboard = 0;
    winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(openpty(&keyboard, &terminal, nullptr, nullptr, &size), 0);
    auto* file = fdopen(terminal, "w");
    {
        Progress progress(file, true, 10);
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(60ms);
            progress.step("64x64x64", "best of all configurations " + std::string(200, 'x'), false);
        }
    }
    std::string text;
    // What was written arrives in pieces.
    EXPECT_TRUE(soon(
        [&] {
            char piece[4096];
            pollfd ready{keyboard, POLLIN, 0};
            if (poll(&ready, 1, 0) == 1)
                text.append(piece, static_cast<std::size_t>(read(keyboard, piece, sizeof piece)));
            return text.ends_with("\r\x1b[K");
        },
        5s))
        << text;
    std::fclose(file);
    close(keyboard);
    EXPECT_THAT(text, HasSubstr("\r[####"));
    EXPECT_THAT(text, HasSubstr("/10 trials"));
    EXPECT_THAT(text, HasSubstr(" left"));
    EXPECT_THAT(text, Not(HasSubstr("\n"))) << "a line wider than the terminal would leave rests behind";
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\r', begin + 1), text.size());
        EXPECT_LE(end - begin, 60U + 3U) << "without its control characters it fits in 60 columns";
        begin = end;
    }
}

}  // namespace
}  // namespace smemtune
