// Pages as files, and one that follows a tuning run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "tuner/page/data/page_data.h"

namespace smemtune {

/// Replaces `file` at once, so that a browser never sees a part of it. Follows a symbolic link. Writes into a device or
/// a pipe instead of replacing it. Throws UsageError if it cannot be written.
void write_page(const std::filesystem::path& file, const std::string& html);

/// Writes the page of a database while a run fills it. The next page is due after `period`, and not before 20 times the
/// time that the last page took. So pages take at most 5 % of one core.
class FollowingPage {
public:
    /// `database` may be absent until the run creates it. Throws UsageError if `file` cannot be written.
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
    std::jthread thread_;  // the last member, because it uses the others
};

}  // namespace smemtune
