// Shared by the tests of templates/launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "templates/manifest/catalog.h"

namespace smemtune {

inline KernelTemplate builtin(const std::string& name) {
    const auto& all = builtin_templates();
    return *std::ranges::find(all, name, &KernelTemplate::name);
}

inline Configuration tile(std::int64_t width) { return {{{"TILE_WIDTH", width}}}; }

}  // namespace smemtune
