// Progress of a long run: a bar that redraws itself on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace smemtune {

class Progress {
public:
    using Clock = std::chrono::steady_clock;

    /// `total` trials are expected; 0 when nobody can tell. Writes to `out` (standard error); `enabled` false keeps it
    /// silent. With a `label`, one of several that write at once: whole lines that begin with it.
    Progress(std::FILE* out, bool enabled, std::size_t total, const std::string& label = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// One more trial is over. `best` describes the best so far: `tiled TILE_WIDTH=32, 812 us`.
    void step(const std::string& problem, const std::string& best, bool recalled);
    /// A line of its own, above the bar.
    void say(const std::string& line);

private:
    void draw(bool last);
    void clear();

    std::FILE* out_;
    bool enabled_, terminal_;
    std::size_t total_, done_ = 0, recalled_ = 0;
    std::string label_, problem_, best_;
    Clock::time_point begin_, drawn_;
    bool shown_ = false;
};

}  // namespace smemtune
