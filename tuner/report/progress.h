// Progress of a long run: one line that redraws itself on a terminal, lines now and then elsewhere.
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
    std::string part;             ///< of a run in several parts: `run 2 of 5`; else empty
    std::size_t size = 0;         ///< the size at work: 1 for the first; 0 before it
    std::size_t sizes = 0;        ///< of the run
    std::string size_text;        ///< `512x512x512`
    std::size_t trials = 0;       ///< of all sizes, those known before included
    std::optional<double> share;  ///< of the trials that are planned; nothing when nobody can tell
    double seconds = 0;           ///< since the run began
    std::optional<double> left;   ///< seconds, estimated; nothing when nobody can tell
    std::string best_time;        ///< of the size at work: `812 us`; empty before the first
    std::string best;             ///< its template and what differs from the default
};

/// `[2/5] 512x512x512: 312 trials, 41 %, 42 s, about 1:20 min left; best 12.5 us tiled TILE_WIDTH=32`, at most `width`
/// characters; with 0, of any length. Where room is short, the estimate and the size go first, and the end is cut.
std::string progress_line(const ProgressState& state, std::size_t width = 0);

/// May be called by several threads.
class Progress {
public:
    using Clock = std::chrono::steady_clock;

    enum class Style {
        silent,
        lines,    ///< a line for each size that is done, and one every 30 s
        redrawn,  ///< on a terminal that obeys control sequences; elsewhere it is `lines`
    };

    struct Plan {
        std::size_t sizes = 0;
        std::size_t trials = 0;                        ///< of all sizes; 0 when nobody can tell
        std::optional<std::chrono::seconds> budget{};  ///< for the whole run
    };

    /// Writes to `out` (standard error). With a `label`, it is one of several that write at once: whole lines that
    /// begin with the label.
    Progress(std::FILE* out, Style style, const Plan& plan, const std::string& label = {});
    /// Writes a closing line unless the line is redrawn.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// The best candidate of a size: `812 us`, and its template with what differs from the default.
    struct Best {
        std::string time{}, description{};
    };

    /// One more trial of `size` is over.
    void step(const std::string& size, const Best& best, bool recalled);
    /// `size` is done. A size that is looked at again is reported again where its best has changed.
    void finish(const std::string& size, const Best& best, std::size_t trials, double seconds, const std::string& why);
    /// All sizes begin anew, in a run of several parts: `run 2 of 5`.
    void begin_part(const std::string& name);
    /// A line of its own, above the line that is redrawn.
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
    bool shown_ = false;  // the line that is redrawn

    mutable std::mutex mutex_;  // over everything below and the output
    std::condition_variable_any changed_;
    std::string part_, size_;
    std::map<std::string, std::size_t> numbers_{};   // of the sizes, in the order in which they began
    std::map<std::string, std::string> reported_{};  // the best of each size that is done
    std::size_t trials_ = 0, recalled_ = 0;
    Best best_;
    double done_seconds_ = 0;  // when the last size was done
    std::jthread ticker_;      // last: it uses all the others
};

}  // namespace smemtune
