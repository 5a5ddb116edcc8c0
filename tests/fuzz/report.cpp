#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tuner/bench/changes.h"

using namespace smemtune;

// Fuzzes reports of `bench --json`. Reads a report as `bench --against FILE.json` does, and compares it with itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto figures = figures_of(nlohmann::json::parse(data, data + size, nullptr, false));
        (void)to_text(changes(figures, figures));
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
