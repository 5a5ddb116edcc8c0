// Reads cache files of Kernel Tuner: a JSON object with a header and one entry per configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smemtune {

struct RecordedParameter {
    std::string name;
    std::vector<std::string> values;  ///< distinct texts: declared values first, then values that only entries have
};

struct Recording {
    struct Entry {
        std::vector<std::size_t> values;  ///< for each parameter: the index of the entry's value
        std::optional<double> cost;       ///< the objective's value, lower is better; nothing for a failure
    };
    std::string device;
    std::string kernel;
    std::string problem;    ///< the problem's size, such as `4096x4096`
    std::string objective;  ///< "ms" for "time"; for other objectives, the name, with the prefix "1 / " if maximised
    std::vector<RecordedParameter> parameters;
    std::vector<Entry> entries;
};

/// Reads files of finished runs and of interrupted ones. The file of an interrupted run ends after the comma of an
/// entry or within an entry. `path` is for messages. Throws std::invalid_argument if the text is not JSON, is not a
/// cache, or is empty.
Recording parse_kernel_tuner_cache(const std::string& path, std::string text);

}  // namespace smemtune
