#include "tuner/report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tuner/report/text.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using namespace std::chrono_literals;

constexpr auto redraw_period = 100ms;
constexpr auto tick_period = 1s;   // how often the elapsed time is updated if nothing else happens
constexpr auto line_period = 30s;  // time between two lines in Style::lines

std::string head_of(const ProgressState& state, bool with_left, bool with_size) {
    auto text = state.part.empty() ? std::string() : state.part + ", ";
    text += fmt::format("[{}/{}] ", state.size, state.sizes);
    if (state.trials == 0) {
        const auto* step =
            state.preparing ? "computing inputs and reference outputs, " : "compiling the first candidates, ";
        return text + step + duration_text(state.seconds);
    }
    if (with_size && !state.size_text.empty()) text += state.size_text + ": ";
    text += counted(state.trials, "trial");
    if (state.share) text += fmt::format(", {:.0f} %", 100 * *state.share);
    text += ", " + duration_text(state.seconds);
    if (with_left && state.left) text += ", about " + duration_text(*state.left) + " left";
    return text + (state.best_time.empty() ? "" : "; best " + state.best_time);
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t width) {
    const auto fits = [width](const std::string& text) { return width == 0 || text.size() <= width; };
    auto text = head_of(state, true, true);
    if (!fits(text)) text = head_of(state, false, true);
    if (!fits(text)) text = head_of(state, false, false);
    if (!state.best.empty()) text += " " + state.best;
    if (!fits(text)) text.resize(width);
    return text;
}

Progress::Progress(std::FILE* out, Style style, const Plan& plan, const std::string& label)
    : out_(out), style_(style), plan_(plan), label_(label.empty() ? "" : label + ": ") {
    if (style_ == Style::silent) return;
    if (!label.empty() || isatty(fileno(out)) == 0) style_ = Style::lines;
    if (style_ == Style::lines) drawn_ = begin_;  // the first line comes after one line_period
    ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

Progress::~Progress() {
    if (style_ == Style::silent) return;
    ticker_.request_stop();
    ticker_.join();
    const std::scoped_lock lock(mutex_);
    clear();
    if (style_ == Style::redrawn || trials_ == 0) return;
    const auto sizes = part_.empty() ? counted(reported_.size(), "size") + ", " : "";  // parts count sizes separately
    write_line(fmt::format("done: {}{} ({} known before), {}", sizes, counted(trials_, "trial"), count_text(recalled_),
                           duration_text(seconds_since(begin_))));
}

void Progress::tick(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        update(style_ == Style::redrawn ? Clock::duration(redraw_period) : line_period);
        changed_.wait_for(lock, stop, tick_period, [] { return false; });
    }
}

void Progress::prepare(bool begins) {
    const std::scoped_lock lock(mutex_);
    preparing_ += begins ? 1 : -1;
}

void Progress::step(const std::string& size, const Best& best, bool recalled) {
    const std::scoped_lock lock(mutex_);
    ++trials_;
    if (recalled) ++recalled_;
    (void)number_of(size);
    size_ = size;
    best_ = best;
    if (style_ != Style::silent) update(style_ == Style::redrawn ? Clock::duration(redraw_period) : line_period);
}

void Progress::finish(const std::string& size, const Best& best, std::size_t trials, double seconds,
                      const std::string& why) {
    const std::scoped_lock lock(mutex_);
    const auto* nothing = trials == 0 ? "nothing was tried" : "nothing was right";
    const auto text = best.time.empty() ? nothing : best.time + " " + best.description;
    const auto [known, is_new] = reported_.try_emplace(size, text);
    if (!is_new && known->second == text) return;
    known->second = text;
    done_seconds_ = seconds_since(begin_);
    if (style_ != Style::lines) return;
    write_line(fmt::format("{}[{}/{}] {}: {}; {}, {}{}", part_.empty() ? "" : part_ + ", ", number_of(size),
                           plan_.sizes, size, text, counted(trials, "trial"), duration_text(seconds),
                           why.empty() ? "" : ", " + why));
    drawn_ = Clock::now();
}

void Progress::begin_part(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    part_ = name;
    numbers_.clear();
    reported_.clear();
    size_.clear();
    best_ = {};
}

void Progress::say(const std::string& line) {
    if (style_ == Style::silent) return;
    const std::scoped_lock lock(mutex_);
    clear();
    write(folded(label_ + line, style_ == Style::redrawn ? width() : 0, 0, 2));
}

std::size_t Progress::width() const {
    winsize size{};
    if (ioctl(fileno(out_), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::size_t Progress::number_of(const std::string& size) {
    return numbers_.try_emplace(size, numbers_.size() + 1).first->second;
}

// Estimates the time left. If the number of planned trials is known, the estimate follows from the mean time of a
// trial: the elapsed time divided by the number of trials that were not recalled (recalled trials take almost no
// time). Otherwise, if the run has no parts (begin_part()), the estimate follows from the mean time of a finished
// size. The time left is at most the rest of the budget. Without an estimate, it is the rest of the budget.
ProgressState Progress::state() const {
    ProgressState state{.part = part_,
                        .size = size_.empty() ? 1 : numbers_.at(size_),
                        .sizes = plan_.sizes,
                        .size_text = size_,
                        .preparing = preparing_ > 0,
                        .trials = trials_,
                        .share = {},
                        .seconds = seconds_since(begin_),
                        .left = {},
                        .best_time = best_.time,
                        .best = best_.description};
    const auto done = static_cast<double>(trials_);
    const auto total = static_cast<double>(plan_.trials);
    const auto tried = static_cast<double>(trials_ - recalled_);
    const auto sizes_done = static_cast<double>(reported_.size());
    const auto sizes = static_cast<double>(plan_.sizes);
    if (plan_.trials > 0) {
        state.share = std::min(1.0, done / total);
        if (tried > 0 && done < total) state.left = (total - done) / tried * state.seconds;
    } else if (part_.empty() && sizes_done > 0 && sizes_done < sizes) {
        const auto left = done_seconds_ * sizes / sizes_done - state.seconds;
        // The estimate is negative if the present size takes long and the earlier ones did not, such as recalled sizes.
        if (left > 0) state.left = left;
    }
    if (plan_.budget) {
        const auto rest = std::max(0.0, static_cast<double>(plan_.budget->count()) - state.seconds);
        state.left = std::min(rest, state.left.value_or(rest));
    }
    return state;
}

// Draws at most once in a `period`.
void Progress::update(Clock::duration period) {
    const auto now = Clock::now();
    if (now - drawn_ < period) return;
    drawn_ = now;
    if (style_ == Style::lines) return write_line(progress_line(state()));
    // The last column of the terminal stays free, because some terminals wrap as soon as this column is written.
    write(fmt::format("\r{}\x1b[K", progress_line(state(), width() - 1)));
    shown_ = true;
}

void Progress::write_line(const std::string& line) { write(label_ + line + "\n"); }

void Progress::clear() {
    if (shown_) write("\r\x1b[K");
    shown_ = false;
}

// Ignores errors, for example of a closed pipe: a run must not end because nobody reads its progress.
void Progress::write(const std::string& text) {
    (void)std::fputs(text.c_str(), out_);
    (void)std::fflush(out_);
}

}  // namespace smemtune
