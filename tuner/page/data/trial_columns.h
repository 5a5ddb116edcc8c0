// Writes the trials of a page as JSON, column by column.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/record.h"

namespace smemtune {

/// The indices of a trial's device, template, problem, configuration and run in the page's lists.
struct TrialPlace {
    std::size_t device = 0, kernel_template = 0, problem = 0, configuration = 0, run = 0;
};

class TrialColumns {
public:
    void add(const TrialRow& row, const TrialPlace& place);

    /// Returns a JSON object with a list for each column, and three more members. `state` has a letter for each trial.
    /// `reasons` lists the reasons of rejections. The column `reason` has indices into it, and -1 for measured trials.
    /// `begin` is the time of the first trial, in milliseconds since 1970; the column `at` is relative to it. The
    /// columns `id`, `device`, `template`, `problem`, `configuration`, `run` and `at` have differences to the previous
    /// trial, because differences need fewer digits. Median times have 5 significant digits, other times have 3.
    [[nodiscard]] std::string to_json() const;

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void add(const char* column, double value, int digits);
    void add(const char* column, std::int64_t value);
    void add_difference(const char* column, std::int64_t value);  // appends the difference to the previous row

    std::size_t size_ = 0;
    std::map<std::string, std::string, std::less<>> columns_;
    std::map<std::string, std::int64_t> last_;  // the previous value in each column of differences
    std::map<std::string, std::size_t> reasons_;
    std::string states_;
    std::int64_t begin_ms_ = 0;
};

}  // namespace smemtune
