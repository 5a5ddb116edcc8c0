// Progress of a long run: one redrawn line on a terminal, occasional lines elsewhere.
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
    std::string part;             ///< in a run of several parts: `run 2 of 5`; otherwise empty
    std::size_t size = 0;         ///< number of the current size, from 1; 0 before the first
    std::size_t sizes = 0;        ///< sizes in the run
    std::string size_text;        ///< `512x512x512`
    std::size_t trials = 0;       ///< of all sizes, including those known before
    std::optional<double> share;  ///< share of the planned trials that are done; nothing if unknown
    double seconds = 0;           ///< since the start of the run
    std::optional<double> left;   ///< estimated seconds left; nothing if unknown
    std::string best_time;        ///< of the current size: `812 us`; empty before the first
    std::string best;             ///< its template and its parameters that differ from the default
};

/// `[2/5] 512x512x512: 312 trials, 41 %, 42 s, about 1:20 min left; best 12.5 us tiled TILE_WIDTH=32`, at most `width`
/// characters; 0 means any length. If space is short, the estimate and the size are left out first, then the end is
/// cut.
std::string progress_line(const ProgressState& state, std::size_t width = 0);

/// Shows progress. All functions may be called from several threads.
class Progress {
public:
    using Clock = std::chrono::steady_clock;

    enum class Style {
        silent,
        lines,    ///< one line for each finished size, and one every 30 s
        redrawn,  ///< for a terminal that obeys control sequences; otherwise `lines` is used
    };

    struct Plan {
        std::size_t sizes = 0;
        std::size_t trials = 0;                        ///< of all sizes; 0 if unknown
        std::optional<std::chrono::seconds> budget{};  ///< for the whole run
    };

    /// Writes to `out` (standard error). If several objects write at once, give each a `label`: it then writes whole
    /// lines that begin with the label.
    Progress(std::FILE* out, Style style, const Plan& plan, const std::string& label = {});
    /// Writes a final line in Style::lines, clears the line in Style::redrawn.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// The best candidate of a size: its time, such as `812 us`, and its template with the parameters that differ from
    /// the default.
    struct Best {
        std::string time{}, description{};
    };

    /// Counts one more finished trial of `size`.
    void step(const std::string& size, const Best& best, bool recalled);
    /// Reports that `size` is done. A size that is done again is reported again only if its best has changed.
    void finish(const std::string& size, const Best& best, std::size_t trials, double seconds, const std::string& why);
    /// Starts a new part in a run of several parts, such as `run 2 of 5`: all sizes begin again.
    void begin_part(const std::string& name);
    /// Prints a separate line, above the redrawn one.
    void say(const std::string& line);

private:
    [[nodiscard]] std::size_t width() const;
    [[nodiscard]] ProgressState state() const;
    std::size_t number_of(const std::string& size);
    void write_line(const std::string& line);
    void update(Clock::duration period);
    void clear();
    void tick(const std::stop_token& stop);

    std::FILE* out_;
    Style style_;
    Plan plan_;
    std::string label_;
    Clock::time_point begin_ = Clock::now(), drawn_{};
    bool shown_ = false;  // whether the redrawn line is visible

    mutable std::mutex mutex_;  // guards everything below and the output
    std::condition_variable_any changed_;
    std::string part_, size_;
    std::map<std::string, std::size_t> numbers_{};   // of the sizes, in the order of their first trial
    std::map<std::string, std::string> reported_{};  // the best of each finished size
    std::size_t trials_ = 0, recalled_ = 0;
    Best best_;
    double done_seconds_ = 0;  // when the last size finished
    std::jthread ticker_;      // the last member, because its thread uses the others
};

}  // namespace smemtune
