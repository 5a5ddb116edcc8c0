// The trials of a page, column by column.
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

    /// A JSON object: a list for each column, all of the same length; `state`, a letter for each trial; `reasons`, the
    /// texts of which the column `reason` holds the indices; `begin`, the time from which the column `at` counts, in
    /// seconds since 1970.
    /// `id`, `device`, `template`, `problem`, `configuration`, `run` and `at` hold differences to the previous trial,
    /// which are short. Measured values have 5 significant digits, costs of trials have 3.
    [[nodiscard]] std::string to_json() const;

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void add(const char* column, double value, int digits);
    void add(const char* column, std::int64_t value);
    void add_difference(const char* column, std::int64_t value);  // to the row before

    std::size_t size_ = 0;
    std::map<std::string, std::string, std::less<>> columns_;
    std::map<std::string, std::int64_t> last_;  // of the columns that hold differences
    std::map<std::string, std::size_t> reasons_;
    std::string states_;
    std::int64_t begin_ms_ = 0;
};

}  // namespace smemtune
