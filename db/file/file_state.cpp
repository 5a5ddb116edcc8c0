#include "db/file/file_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "db/file/journal.h"

namespace smemtune {

namespace {

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

constexpr std::chrono::milliseconds settled{20};

auto now() { return std::chrono::system_clock::now().time_since_epoch(); }

FileState without_journal(const std::filesystem::path& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) return {};
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .size = status.st_size,
            .modified_ns = nanoseconds(status.st_mtim),
            .status_changed_ns = nanoseconds(status.st_ctim)};
}

}  // namespace

FileState state_of(const std::filesystem::path& file) {
    auto state = without_journal(file);
    if (state.inode != 0) state.has_pending_journal = has_pending_journal(file);
    return state;
}

bool FilesState::is_settled() const {
    constexpr std::chrono::seconds longest_step{3};
    const auto latest = std::max(file.modified_ns, log.modified_ns);
    return file.inode != 0 && now() - std::chrono::nanoseconds(latest) > longest_step;
}

FilesState states_of(const std::filesystem::path& file, const std::filesystem::path& log) {
    return {without_journal(file), log.empty() ? FileState{} : without_journal(log)};
}

bool is_replaced(const std::filesystem::path& file, const FileState& opened) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 && !(status.st_dev == opened.device && status.st_ino == opened.inode);
}

FileState settled_state_of(const std::filesystem::path& file) {
    for (const auto start = now();;) {
        const auto state = state_of(file);
        const auto age = now() - std::chrono::nanoseconds(state.modified_ns);
        // The wait ends after 20 ms in any case, because the time stamp can lie in the future. For example, another
        // host whose clock is ahead may have written the file.
        if (age > settled || now() - start > settled) return state;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace smemtune
