#include "tuner/page/page_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/command_line.h"
#include "tuner/page/page.h"

namespace smemtune {

namespace fs = std::filesystem;

namespace {

std::error_code error_of_errno() { return {errno, std::generic_category()}; }

std::error_code write_directly(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    return out ? std::error_code() : error_of_errno();
}

std::error_code write_and_rename(const fs::path& file, const std::string& text) {
    auto unfinished = file;
    unfinished += ".unfinished-" + std::to_string(getpid());
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    // O_EXCL makes open() fail if the name exists. Without O_EXCL, another user of the folder could put a link under
    // this name, and this program would overwrite the link's target.
    const int created = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (created < 0) return error_of_errno();
    ::close(created);
    auto error = write_directly(unfinished, text);
    if (!error) fs::rename(unfinished, file, error);
    if (error) fs::remove(unfinished, ignored);
    return error;
}

}  // namespace

void write_page(const fs::path& file, const std::string& html) {
    require_no_database(file);
    std::error_code ignored;
    const auto known = fs::status(file, ignored);
    std::error_code error;
    if (fs::is_regular_file(known)) {
        error = write_and_rename(fs::canonical(file, ignored), html);
    } else if (!fs::exists(known) && !fs::is_symlink(fs::symlink_status(file, ignored))) {
        error = write_and_rename(file, html);
    } else {
        error = write_directly(file, html);  // a device or a pipe is written to, not replaced
    }
    if (!error) return;
    throw UsageError(fmt::format("{}: cannot be written ({}); choose another path", file.string(), error.message()));
}

FollowingPage::FollowingPage(fs::path file, fs::path database, PageRequest request, std::chrono::milliseconds period)
    : file_(std::move(file)), database_(std::move(database)), request_(std::move(request)), period_(period) {
    const auto place = [](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); };
    if (place(file_) == place(database_)) {
        throw UsageError(file_.string() + " is named by both --report and --db; choose another file for the report");
    }
    if (fs::exists(database_)) {
        write(true);
    } else {
        write_page(file_,
                   "<!doctype html><meta http-equiv=refresh content=5><title>smemtune</title>The run has no trial yet. "
                   "This page reloads itself.");
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

FollowingPage::~FollowingPage() {
    thread_.request_stop();
    thread_.join();
    try {
        if (fs::exists(database_)) write(false);
    } catch (const std::exception& error) {
        fmt::print(stderr, "--report: {}\n", error.what());
    }
}

void FollowingPage::write(bool unfinished) {
    request_.unfinished = unfinished;
    // The page leaves out damaged trials without a message. 'smemtune report FILE' and 'smemtune db verify' name them.
    const Store store(database_, Store::Access::read, {.on_damage = [](const std::string&) {}});
    write_page(file_, page_html(page_data(store, request_), PageSource::file));
}

void FollowingPage::follow(const std::stop_token& stop) {
    auto wait = std::chrono::duration_cast<std::chrono::steady_clock::duration>(period_);
    while (true) {
        {
            std::unique_lock lock(mutex_);
            if (stopped_.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); })) return;
            if (stop.stop_requested()) return;
        }
        const auto begin = std::chrono::steady_clock::now();
        try {
            if (fs::exists(database_)) write(true);
        } catch (const std::exception&) {
            // Ignores the error, because writing the next page may succeed. Only an error of the last page is reported.
        }
        wait = std::max<std::chrono::steady_clock::duration>(period_, 20 * (std::chrono::steady_clock::now() - begin));
    }
}

}  // namespace smemtune
