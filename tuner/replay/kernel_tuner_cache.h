// Reads the cache files of Kernel Tuner: one JSON object with a header and one entry per configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smemtune {

struct RecordedParameter {
    std::string name;
    std::vector<std::string>
        values;  ///< as spelt, distinct; the declared ones first, then those that only entries have
};

struct Recording {
    struct Entry {
        std::vector<std::size_t> values;  ///< for each parameter, which of its values
        std::optional<double> cost;       ///< less being better; nothing when it failed
    };
    std::string device;
    std::string kernel;
    std::string problem;    ///< `4096x4096`
    std::string objective;  ///< "ms" for the usual "time"; else its name, as its reciprocal where more is better
    std::vector<RecordedParameter> parameters;
    std::vector<Entry> entries;
};

/// Reads closed files and open ones, which end after the comma of an entry, or in the middle of one. `path` is for
/// errors. Throws std::invalid_argument when the text is not JSON, not a cache, or an empty one.
Recording parse_kernel_tuner_cache(const std::string& path, std::string text);

}  // namespace smemtune
