// Shows the progress of a long run: as one line that is redrawn on a terminal, or as occasional lines elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace smemtune {

struct ProgressState {
    std::string part;             ///< the current part of the run, such as `run 2 of 5`; may be empty
    std::size_t size = 0;         ///< number of the current size, from 1
    std::size_t sizes = 0;        ///< number of sizes in the run
    std::string size_text;        ///< the current size, such as `512x512x512`
    bool preparing = false;       ///< whether inputs and reference outputs are computed
    std::size_t trials = 0;       ///< finished trials of all sizes, including recalled ones
    std::optional<double> share;  ///< share of the planned trials that are done; nothing if unknown
    double seconds = 0;           ///< seconds since the start of the run
    std::optional<double> left;   ///< estimated seconds left; nothing if unknown
    std::string best_time;        ///< the best time of the current size, `812 us`; empty at first
    std::string best;             ///< the best candidate: its template and its non-default parameters
};

/// Formats the state as `[2/5] 512x512x512: 312 trials, 41 %, 42 s, about 1:20 min left; best 12.5 us tiled
/// TILE_WIDTH=32`. The line has at most `width` characters; 0 means any length. If the text before the best candidate's
/// template is too long, the time left is dropped, then the size. A line that is still too long is cut at its end.
std::string progress_line(const ProgressState& state, std::size_t width = 0);

/// Shows progress. All functions may be called from several threads.
class Progress {
public:
    using Clock = std::chrono::steady_clock;

    enum class Style {
        silent,
        lines,    ///< prints a line for each finished size, and a line every 30 s
        redrawn,  ///< one line that is redrawn; if the output is not a terminal, `lines` is used instead
    };

    struct Plan {
        std::size_t sizes = 0;
        std::size_t trials = 0;                        ///< planned trials of all sizes; 0 if unknown
        std::optional<std::chrono::seconds> budget{};  ///< time limit for the whole run
    };

    /// Writes to `out`, usually standard error. If several objects write at the same time, give each a `label`. An
    /// object with a label writes only whole lines, which begin with the label.
    Progress(std::FILE* out, Style style, const Plan& plan, const std::string& label = {});
    /// Writes a final line in Style::lines. Clears the redrawn line in Style::redrawn.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// The best candidate of a size: its time, such as `812 us`, and its template with its non-default parameters.
    struct Best {
        std::string time{}, description{};
    };

    /// Says until the first trial that inputs and reference outputs are computed. Ends with `false`.
    void prepare(bool begins);
    /// Counts one more finished trial of `size`.
    void step(const std::string& size, const Best& best, bool recalled);
    /// Reports that `size` is done. A size that is done again is reported again only if its best candidate has changed.
    void finish(const std::string& size, const Best& best, std::size_t trials, double seconds, const std::string& why);
    /// Starts a new part of the run, such as `run 2 of 5`. The sizes are counted from 1 again.
    void begin_part(const std::string& name);
    /// Prints a line of its own. The redrawn line follows below it.
    void say(const std::string& line);

private:
    [[nodiscard]] std::size_t width() const;
    [[nodiscard]] ProgressState state() const;
    std::size_t number_of(const std::string& size);
    void write_line(const std::string& line);
    void write(const std::string& text);
    void update(Clock::duration period);
    void clear();
    void tick(const std::stop_token& stop);

    std::FILE* out_;
    Style style_;
    Plan plan_;
    std::string label_;
    Clock::time_point begin_ = Clock::now(), drawn_{};
    bool shown_ = false;  // whether the redrawn line is visible

    mutable std::mutex mutex_;  // guards the output and the members below
    std::condition_variable_any changed_;
    std::string part_, size_;
    std::map<std::string, std::size_t> numbers_{};   // the number of each size, in the order of first trials
    std::map<std::string, std::string> reported_{};  // the best of each finished size, as last reported
    std::size_t trials_ = 0, recalled_ = 0;
    int preparing_ = 0;  // how many workers compute inputs and reference outputs
    Best best_;
    double done_seconds_ = 0;  // seconds from the start until a size was last finished
    std::jthread ticker_;      // the last member, because its thread uses the other members
};

}  // namespace smemtune
