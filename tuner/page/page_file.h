// Writes pages to files: once, or repeatedly during a tuning run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "tuner/page/data/page_data.h"

namespace smemtune {

/// Replaces `file` atomically, so that a browser never sees an incomplete page. If `file` is a symbolic link, replaces
/// its target. If it is a device or a pipe, writes into it. Throws UsageError if `file` cannot be written, or if it is
/// a database.
void write_page(const std::filesystem::path& file, const std::string& html);

/// Writes the page of a database repeatedly while a run fills the database. The pause between two pages is at least
/// `period`, and at least 20 times as long as the last page took to write. So pages take at most 5 % of one core.
class FollowingPage {
public:
    /// `database` may be absent until the run creates it. Throws UsageError if `file` cannot be written, or if it is a
    /// database or the path of `database`.
    FollowingPage(std::filesystem::path file, std::filesystem::path database, PageRequest request,
                  std::chrono::milliseconds period = std::chrono::seconds(5));
    /// Writes the last page, which no longer reloads itself. Prints errors to standard error.
    ~FollowingPage();
    FollowingPage(const FollowingPage&) = delete;
    FollowingPage& operator=(const FollowingPage&) = delete;

private:
    void write(bool unfinished);
    void follow(const std::stop_token& stop);

    std::filesystem::path file_, database_;
    PageRequest request_;
    std::chrono::milliseconds period_;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    std::jthread thread_;  // the last member, because the thread uses the other members
};

}  // namespace smemtune
