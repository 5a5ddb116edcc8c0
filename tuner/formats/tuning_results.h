// Tuning results in the formats of other autotuners (docs/formats.md). They never enter a database, because smemtune
// did not verify them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace smemtune {

using Fields = nlohmann::ordered_json;  ///< a JSON object whose fields keep the order of the file

/// The results for one kernel, device and problem, in the fields of Kernel Tuner's cache. The readers of other formats
/// translate fields to Kernel Tuner's. A field that Kernel Tuner does not have keeps its name.
struct TuningResults {
    Fields header = Fields::object();  ///< such as device_name, kernel_name, problem_size, tune_params, objective
    /// The parameters' names, in the order of their values in Kernel Tuner's keys.
    std::vector<std::string> parameters;
    std::vector<Fields> entries;  ///< each has the parameters, time (ms or failure), times, compile_time, ...

    bool operator==(const TuningResults&) const = default;
};

/// Whether an entry has a failure instead of a time.
bool is_failure(const Fields& entry);

/// The names of the formats: `kernel-tuner`, `t4`, `wisdom`, `csv`.
const std::vector<std::string>& result_formats();

/// Returns the name of the format of a file's text.
std::string format_of(std::string_view text);

/// Parses the text of a file in any of the formats. `path` is only for messages. Throws std::invalid_argument if the
/// text is malformed or has no result.
std::vector<TuningResults> parse_results(const std::string& path, const std::string& text);

/// Writes results in a format. Precondition: `format` is one of result_formats(). Throws std::invalid_argument if the
/// format cannot represent the results. Kernel Tuner's and T4's files have the results of one kernel, device and
/// problem.
std::string results_text(const std::string& format, const std::vector<TuningResults>& results);

}  // namespace smemtune
