#include "tuner/report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace smemtune {

namespace {

using namespace std::chrono_literals;

std::string duration_text(double seconds) {
    const auto whole = std::llround(seconds);
    return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

std::size_t terminal_width(std::FILE* out) {
    winsize size{};
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace

Progress::Progress(std::FILE* out, bool enabled, std::size_t total, const std::string& label)
    : out_(out),
      enabled_(enabled),
      terminal_(label.empty() && isatty(fileno(out)) == 1),
      total_(total),
      label_(label.empty() ? "" : label + ": "),
      begin_(Clock::now()),
      drawn_(begin_) {}

Progress::~Progress() {
    if (enabled_ && done_ > 0 && !terminal_) draw(true);
    clear();
}

void Progress::step(const std::string& problem, const std::string& best, bool recalled) {
    ++done_;
    if (recalled) ++recalled_;
    problem_ = problem;
    best_ = best;
    if (!enabled_ || Clock::now() - drawn_ < (terminal_ ? 100ms : 10s)) return;
    drawn_ = Clock::now();
    draw(false);
}

void Progress::say(const std::string& line) {
    if (!enabled_) return;
    clear();
    fmt::print(out_, "{}{}\n", label_, line);
}

void Progress::clear() {
    if (shown_) fmt::print(out_, "\r\x1b[K");
    shown_ = false;
    std::fflush(out_);
}

void Progress::draw(bool last) {
    const auto seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    // What is recalled from the database costs nothing, so it says nothing about the time left.
    const auto tried = done_ - recalled_;
    const auto rate = static_cast<double>(tried) / std::max(seconds, 1e-3);
    const auto left = tried == 0 || done_ >= total_
                          ? std::string()
                          : ", " + duration_text(static_cast<double>(total_ - done_) / rate) + " left";
    const auto of_all = total_ == 0 ? std::string() : fmt::format("/{}", total_);
    const auto counts = fmt::format("{}{} trials, {:.1f}/s{}", done_, of_all, rate, left);
    const auto tail = best_.empty() ? std::string() : fmt::format("  {}: {}", problem_, best_);
    if (!terminal_) {
        fmt::print(out_, "{}{}{}{}\n", label_, last ? "done: " : "", counts, tail);
        return;
    }
    constexpr std::size_t cells = 20;
    const auto filled = total_ == 0 ? 0 : std::min(cells, cells * done_ / total_);
    const auto bar = total_ == 0 ? std::string()
                                 : fmt::format("[{}{}] ", std::string(filled, '#'), std::string(cells - filled, '.'));
    auto line = bar + counts + tail;
    line.resize(std::min(line.size(), terminal_width(out_) - 1));
    fmt::print(out_, "\r{}\x1b[K", line);
    shown_ = true;
    std::fflush(out_);
}

}  // namespace smemtune
