#include "util/relative_path.h"

#include <algorithm>

namespace smemtune {

bool stays_inside(std::string_view path) {
    const auto is_unsafe = [](char c) {
        return static_cast<unsigned char>(c) < 32 || c == 127 || c == '\\' || c == '"';
    };
    if (std::any_of(path.begin(), path.end(), is_unsafe)) return false;
    for (;;) {
        const auto end = path.find('/');
        const auto part = path.substr(0, end);
        if (part.empty() || part == "." || part == "..") return false;
        if (end == std::string_view::npos) return true;
        path.remove_prefix(end + 1);
    }
}

}  // namespace smemtune
