#include "tuner/page/data/trial_columns.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "templates/manifest/catalog.h"
#include "tuner/analysis/timestamp.h"

namespace smemtune {

namespace {

// Returns the letter for the outcome of a trial. tuner/page/web/data.js says what each letter means.
char state_letter(const TrialRecord& trial) {
    if (const auto* rejection = std::get_if<Rejection>(&trial.outcome)) {
        constexpr std::string_view letters = "LCAWXT";  // the stages' letters, in the order of the enumerators of Stage
        return letters.at(static_cast<std::size_t>(rejection->stage));
    }
    if (std::get<Measurement>(trial.outcome).cut_short) return 's';
    if (!trial.is_verified()) return 'm';
    return is_unchecked(trial.verified_by) ? 'u' : 'v';
}

}  // namespace

void TrialColumns::add(const char* column, double value, int digits) {
    // JSON has no infinity, but the duration of a compile in a database may be infinite.
    fmt::format_to(std::back_inserter(columns_[column]), "{:.{}g},", std::isfinite(value) ? value : 0, digits);
}

void TrialColumns::add(const char* column, std::int64_t value) {
    fmt::format_to(std::back_inserter(columns_[column]), "{},", value);
}

void TrialColumns::add_difference(const char* column, std::int64_t value) {
    auto& last = last_[column];
    add(column, value - last);
    last = value;
}

void TrialColumns::add(const TrialRow& row, const TrialPlace& place) {
    const auto& trial = row.record;
    const auto at = milliseconds_of(row.finished_at);
    if (size_ == 0) begin_ms_ = at;
    ++size_;
    states_ += state_letter(trial);
    add_difference("id", row.id);
    add_difference("device", static_cast<std::int64_t>(place.device));
    add_difference("template", static_cast<std::int64_t>(place.kernel_template));
    add_difference("problem", static_cast<std::int64_t>(place.problem));
    add_difference("configuration", static_cast<std::int64_t>(place.configuration));
    add_difference("run", static_cast<std::int64_t>(place.run));
    add_difference("at", at - begin_ms_);
    add("registers", trial.resources.registers);
    add("spill", trial.resources.spill_bytes);
    add("shared", trial.resources.static_shared_bytes + trial.resources.dynamic_shared_bytes);
    add("compile", trial.compile_ms, 3);
    add("verify", trial.verify_ms, 3);
    add("time", trial.time_ms, 3);
    const auto* measured = std::get_if<Measurement>(&trial.outcome);
    add("median", measured == nullptr ? 0 : measured->median_us, 5);
    add("spread", measured == nullptr ? 0 : measured->spread_us, 3);
    if (const auto* rejection = std::get_if<Rejection>(&trial.outcome)) {
        add("reason",
            static_cast<std::int64_t>(reasons_.try_emplace(rejection->reason, reasons_.size()).first->second));
    } else {
        add("reason", std::int64_t{-1});
    }
}

std::string TrialColumns::to_json() const {
    std::vector<std::string> reasons(reasons_.size());
    for (const auto& [text, number] : reasons_) reasons[number] = text;
    const nlohmann::json texts{{"state", states_}, {"reasons", reasons}, {"begin", begin_ms_}};
    auto result = texts.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    result.pop_back();
    for (const auto& [name, values] : columns_) {
        fmt::format_to(std::back_inserter(result), ",\"{}\":[{}]", name,
                       std::string_view(values).substr(0, values.size() - 1));
    }
    return result + "}";
}

}  // namespace smemtune
