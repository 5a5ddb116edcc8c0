#include "util/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include "util/relative_path.h"

namespace smemtune {

namespace {

// Locks a folder and returns its descriptor. The system releases the lock when the process ends, even if the process is
// killed. Returns -1 if another process holds the lock, the filesystem has no locks, or another user owns the folder.
int lock_folder(const std::filesystem::path& path) {
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat found {};
    if (folder < 0) return folder;
    if (fstat(folder, &found) == 0 && found.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
    close(folder);
    return -1;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    if (error) {
        throw std::runtime_error("the folder for temporary files cannot be used: " + error.message() +
                                 "; name an existing folder in TMPDIR");
    }
    static std::once_flag once;
    std::call_once(once, [&] { remove_leftovers(parent, prefix); });
    auto pattern = (parent / (prefix + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("cannot create a folder like " + pattern + ": " + std::strerror(errno) +
                                 "; name another place in TMPDIR");
    }
    path_ = pattern;
    lock_ = lock_folder(path_);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
}

void remove_leftovers(const std::filesystem::path& parent, const std::string& prefix, std::chrono::seconds age) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const auto start = prefix + "-";
    for (fs::directory_iterator each(parent, ignored); !ignored && each != fs::directory_iterator();
         each.increment(ignored)) {
        const auto name = each->path().filename().string();
        if (!name.starts_with(start) || name.size() != start.size() + 6) continue;
        std::error_code gone;
        const auto changed = each->last_write_time(gone);
        if (gone || fs::file_time_type::clock::now() - changed < age) continue;
        const auto lock = lock_folder(each->path());
        if (lock < 0) continue;
        fs::remove_all(each->path(), gone);
        close(lock);
    }
}

void TemporaryFolder::write(const std::filesystem::path& name, const std::string& text) const {
    if (!stays_inside(name.native())) {
        throw std::runtime_error("'" + name.string() + "' does not lie below its folder and was not written");
    }
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream << text << std::flush;
    if (!stream) throw std::runtime_error("cannot write " + file.string() + "; is the disk full?");
}

}  // namespace smemtune
