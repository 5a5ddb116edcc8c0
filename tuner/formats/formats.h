// One reader and one writer for each file format. They throw std::invalid_argument in the cases that tuning_results.h
// names for parse_results() and results_text().
#pragma once

#include "tuner/formats/tuning_results.h"

namespace smemtune {

/// The cache file of Kernel Tuner (github.com/KernelTuner/kernel_tuner, doc/source/cache_files.rst). The reader accepts
/// the file of an interrupted run, too, which lacks the closing braces.
TuningResults parse_kernel_tuner(const std::string& path, const std::string& text);
std::string kernel_tuner_text(const TuningResults& results);

/// T4, the results format of the autotuning community: results-schema.json 1.0.0 in Kernel Tuner's repository.
TuningResults parse_t4(const std::string& path, const std::string& text);
std::string t4_text(const TuningResults& results);

/// The wisdom file of kernel_launcher (github.com/KernelTuner/kernel_launcher), version 1.0: a header line, then one
/// line for each result. A file has the results of one kernel, for any problems and devices.
std::vector<TuningResults> parse_wisdom(const std::string& path, const std::string& text);
/// Leaves out configurations whose objective is not a number.
std::string wisdom_text(const std::vector<TuningResults>& results);
bool wisdom_holds(const Fields& entry, const std::string& objective);

/// CSV as in RFC 4180, with a header row. A cell that is not JSON is text.
std::vector<TuningResults> parse_csv(const std::string& path, const std::string& text);
std::string results_csv_text(const std::vector<TuningResults>& results);

/// Parses JSON as Python writes it, where NaN, Infinity and -Infinity are numbers. They become strings, which
/// python_dump() writes as numbers again. If the text is malformed, is_discarded() of the result is true. Throws
/// NumberOutOfRange (tuner/replay/json_numbers.h).
Fields python_parse(const std::string& text);
std::string python_dump(const Fields& value);

[[noreturn]] void reject_format(const std::string& path, const std::string& what);

}  // namespace smemtune
