#include <stdexcept>
#include <string_view>

#include "templates/space/configuration.h"
#include "tuner/cli/sizes.h"

using namespace smemtune;

// Fuzzes the parsers of sizes and configurations that a user writes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const SizeForm form{.names = {"BATCH", "M", "N", "K"}, .counts = {"BATCH"}};
    try {
        for (const auto& extents : parse_sizes(text, form)) {
            if (extents.size() != form.names.size()) __builtin_trap();
        }
    } catch (const std::invalid_argument&) {
    }
    try {
        (void)stored_sizes(text, {form});
    } catch (const std::invalid_argument&) {
    }
    try {
        const auto configuration = parse_configuration(text);
        if (parse_configuration(to_text(configuration)) != configuration) __builtin_trap();
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
