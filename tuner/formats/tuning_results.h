// The results of a tuning in the formats of other autotuners: docs/formats.md. Nothing here was verified by smemtune,
// so nothing of it enters a database.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

using Fields = nlohmann::ordered_json;  ///< an object, in the order of its file

/// The results for one kernel, device and problem, in the fields of Kernel Tuner's cache. Other formats are translated
/// into them; a field that a format has and Kernel Tuner has not keeps its name.
struct TuningResults {
    Fields header = Fields::object();     ///< device_name, kernel_name, problem_size, tune_params, objective, ...
    std::vector<std::string> parameters;  ///< in the order of Kernel Tuner's keys
    std::vector<Fields> entries;          ///< parameters, time (ms, or the name of a failure), times, compile_time, ...

    bool operator==(const TuningResults&) const = default;
};

/// Whether this entry of a cache holds a failure instead of a time.
bool is_failure(const Fields& entry);

/// The formats by name: `kernel-tuner`, `t4`, `wisdom`, `csv`.
const std::vector<std::string>& result_formats();

/// The format of a file's text, told from its beginning.
std::string format_of(std::string_view text);

/// Reads a file in any of the formats. `path` is for messages. Throws std::invalid_argument if the text is malformed or
/// holds no result.
std::vector<TuningResults> parse_results(const std::string& path, const std::string& text);

/// Precondition: `format` is one of result_formats(). Throws std::invalid_argument if the format cannot hold these
/// results: Kernel Tuner and T4 hold those of one kernel, device and problem.
std::string results_text(const std::string& format, const std::vector<TuningResults>& results);

}  // namespace smemtune
