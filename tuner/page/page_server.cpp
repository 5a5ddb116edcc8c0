#include "tuner/page/page_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "tuner/cli/command_line.h"
#include "tuner/page/loopback_server.h"
#include "tuner/page/page.h"

namespace smemtune {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto least_period = std::chrono::seconds(2);

// The page leaves out damaged trials without a message. 'smemtune report FILE' and 'smemtune db verify' name them.
void leave_out(const std::string&) {}

// Returns the sizes and the modification times of the database and its write-ahead log, as text. The text changes
// whenever a run stores anything.
std::string stamp_of(const fs::path& database) {
    std::string stamp;
    for (const auto* suffix : {"", "-wal"}) {
        auto file = database;
        file += suffix;
        std::error_code absent;
        const auto size = fs::file_size(file, absent);
        const auto time = fs::last_write_time(file, absent);
        if (!absent) stamp += fmt::format("{} {} ", size, time.time_since_epoch().count());
    }
    return stamp;
}

// Holds the data of the page, and reads it again when the database has changed. The pause after a read is at least ten
// times as long as the read took.
class ServedPage {
public:
    ServedPage(fs::path database, PageRequest request) : database_(std::move(database)), request_(std::move(request)) {
        read();
    }

    // Reads the data again if the database has changed. Returns a number that grows with each read.
    std::string state() {
        if (Clock::now() >= next_ && stamp_of(database_) != stamp_) read();
        return std::to_string(number_);
    }

    [[nodiscard]] HttpAnswer answer(const std::string& path) const {
        if (path == "/") return {200, "text/html; charset=utf-8", page_html(data_, PageSource::server)};
        if (path == "/data.json") return {200, "application/json", data_};
        return {404, "text/plain; charset=utf-8", "there is only /\n"};
    }

private:
    void read() {
        const auto begin = Clock::now();
        stamp_ = stamp_of(database_);
        try {
            // The database is opened anew, because another file may have replaced the file that was read before.
            data_ = page_data(Store(database_, Store::Access::read, {.on_damage = leave_out}), request_);
            ++number_;
        } catch (const std::exception&) {
            if (number_ == 0) throw;
            // The page keeps the data that it has. The next read may succeed, for example when a writer has released
            // its lock.
        }
        next_ = Clock::now() + std::max<Clock::duration>(least_period, 10 * (Clock::now() - begin));
    }

    fs::path database_;
    PageRequest request_;
    std::string data_, stamp_;
    std::uint64_t number_ = 0;
    Clock::time_point next_{};
};

}  // namespace

int serve_page(const fs::path& database, const PageRequest& request, unsigned short port) {
    ServedPage page(database, request);
    LoopbackServer server(port, {.answer = [&](const std::string& path) { return page.answer(path); },
                                 .state = [&] { return page.state(); }});
    fmt::print("http://127.0.0.1:{} until Ctrl-C\n", server.port());
    std::fflush(stdout);
    server.run();
    return success;
}

}  // namespace smemtune
