#include "util/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "util/relative_path.h"

namespace smemtune {

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
    auto pattern = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("cannot create a folder like " + pattern + ": " + std::strerror(errno) +
                                 "; name another place in TMPDIR");
    }
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
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
