#include "tuner/formats/stored_results.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "templates/space/value.h"

namespace smemtune {

namespace {

struct FailureNames {
    const char* kernel_tuner;
    const char* t4;
};

FailureNames failure_names_of(Stage stage) {
    switch (stage) {
        case Stage::limits: return {"InvalidConfig", "constraints"};
        case Stage::compile: return {"CompilationFailedConfig", "compile"};
        case Stage::wrong: return {"RuntimeFailedConfig", "correctness"};
        case Stage::timeout: return {"RuntimeFailedConfig", "timeout"};
        case Stage::launch:
        case Stage::crash: break;
    }
    return {"RuntimeFailedConfig", "runtime"};
}

Fields value_fields(std::int64_t value) { return is_text_value(value) ? Fields(value_text(value)) : Fields(value); }

double milliseconds(double us) { return us / 1000; }

// Formats a time as Kernel Tuner does: with a space instead of T, and +00:00 instead of Z.
std::string kernel_tuner_timestamp(std::string iso) {
    std::ranges::replace(iso, 'T', ' ');
    if (iso.ends_with('Z')) iso.replace(iso.size() - 1, 1, "+00:00");
    return iso;
}

Fields entry_of_trial(const TrialRow& row) {
    Fields entry;
    for (const auto& [name, value] : row.record.configuration.values) entry[name] = value_fields(value);
    if (const auto* measured = std::get_if<Measurement>(&row.record.outcome)) {
        entry["time"] = milliseconds(measured->median_us);
        entry["times"] = Fields::array();
        for (const auto sample : measured->samples_us) entry["times"].push_back(milliseconds(sample));
        if (measured->cut_short) entry["cut_short"] = 1;
        if (measured->energy_uj > 0) entry["energy_uj"] = measured->energy_uj;
        if (measured->clock_khz > 0) entry["clock_khz"] = measured->clock_khz;
    } else {
        const auto& rejection = std::get<Rejection>(row.record.outcome);
        const auto names = failure_names_of(rejection.stage);
        entry["time"] = names.kernel_tuner;
        entry["__error__"] = names.kernel_tuner;
        entry["invalidity"] = names.t4;
        entry["stage"] = std::string(to_text(rejection.stage));
        entry["reason"] = rejection.reason;
    }
    entry["compile_time"] = row.record.compile_ms;
    entry["verification_time"] = row.record.verify_ms;
    entry["benchmark_time"] = row.record.time_ms;
    entry["strategy_time"] = 0;
    entry["framework_time"] = 0;
    entry["timestamp"] = kernel_tuner_timestamp(row.finished_at);
    return entry;
}

TuningResults results_of_trials(const Device& device, const std::vector<const TrialRow*>& rows) {
    const auto& first = *rows.front();
    TuningResults results;
    std::map<std::string, std::set<std::int64_t>> values;
    for (const auto* row : rows) {
        for (const auto& [name, value] : row->record.configuration.values) values[name].insert(value);
        results.entries.push_back(entry_of_trial(*row));
    }
    results.header = {{"device_name", device.name},
                      {"kernel_name", first.kernel_template},
                      {"problem_size", Fields::array()},
                      {"tune_params", Fields::object()},
                      {"objective", "time"},
                      {"operation", first.problem.operation},
                      {"type", first.problem.type},
                      {"layout", first.problem.layout},
                      {"compute_capability", device.compute_capability},
                      {"template_hash", first.template_hash}};
    for (const auto& [name, extent] : first.problem.extents) results.header["problem_size"].push_back(extent);
    for (const auto& [name, each] : values) {
        results.parameters.push_back(name);
        auto& listed = results.header["tune_params"][name] = Fields::array();
        for (const auto value : each) listed.push_back(value_fields(value));
    }
    return results;
}

}  // namespace

std::vector<TuningResults> stored_results(const Store& store, std::span<const TrialRow> rows) {
    std::map<std::int64_t, Device> devices;
    for (auto& [row, device] : store.devices()) devices.emplace(row, std::move(device));
    using Subject = std::tuple<std::int64_t, std::string, std::int64_t>;  // device, template's name, problem
    const auto subject = [](const TrialRow& row) {
        return Subject{row.record.key.device, row.kernel_template, row.record.key.problem};
    };
    std::map<Subject, std::pair<std::string, std::int64_t>> latest;  // time of the latest trial, and its template's row
    for (const auto& row : rows) {
        auto& known = latest[subject(row)];
        known = std::max(known, {row.finished_at, row.record.key.kernel_template});
    }
    std::map<Subject, std::vector<const TrialRow*>> groups;
    for (const auto& row : rows) {
        if (latest[subject(row)].second == row.record.key.kernel_template) groups[subject(row)].push_back(&row);
    }
    std::vector<TuningResults> all;
    all.reserve(groups.size());
    for (const auto& [which, members] : groups) {
        all.push_back(results_of_trials(devices.at(std::get<0>(which)), members));
    }
    return all;
}

}  // namespace smemtune
