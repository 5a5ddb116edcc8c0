// One reader and one writer for each format. All throw std::invalid_argument as in tuning_results.h.
#pragma once

#include "tuner/formats/tuning_results.h"

namespace smemtune {

/// The cache of Kernel Tuner (github.com/KernelTuner/kernel_tuner, doc/source/cache_files.rst), closed or open.
TuningResults parse_kernel_tuner(const std::string& path, const std::string& text);
std::string kernel_tuner_text(const TuningResults& results);

/// T4, the results format of the autotuning community: results-schema.json 1.0.0 in Kernel Tuner.
TuningResults parse_t4(const std::string& path, const std::string& text);
std::string t4_text(const TuningResults& results);

/// The wisdom files of kernel_launcher (github.com/KernelTuner/kernel_launcher), version 1.0: a header line, then a
/// line for each result. One file holds the problems and devices of one kernel.
std::vector<TuningResults> parse_wisdom(const std::string& path, const std::string& text);
/// Configurations without a number for the objective are left out.
std::string wisdom_text(const std::vector<TuningResults>& results);
bool wisdom_holds(const Fields& entry, const std::string& objective);

/// RFC 4180, with a heading. A cell is JSON, or else text.
std::vector<TuningResults> parse_csv(const std::string& path, const std::string& text);
std::string results_csv_text(const std::vector<TuningResults>& results);

/// JSON as Python writes it: NaN, Infinity and -Infinity are numbers. They become strings that python_dump() turns
/// back. Discarded if the text is malformed. Throws NumberOutOfRange (tuner/replay/json_numbers.h).
Fields python_parse(const std::string& text);
std::string python_dump(const Fields& value);

[[noreturn]] void reject_format(const std::string& path, const std::string& what);

}  // namespace smemtune
