#include <algorithm>
#include <array>
#include <map>

#include "tuner/formats/formats.h"

namespace smemtune {

namespace {

// The times of a configuration: first Kernel Tuner's name, then T4's name.
constexpr std::array<std::pair<const char*, const char*>, 6> time_names{{{"compile_time", "compilation_time"},
                                                                         {"benchmark_time", "benchmark"},
                                                                         {"framework_time", "framework"},
                                                                         {"strategy_time", "search_algorithm"},
                                                                         {"verification_time", "validation"},
                                                                         {"times", "runtimes"}}};
// T4 files that Kernel Tuner writes have this name, although the schema has `compilation_time`.
constexpr const char* older_compilation = "compilation";

// Maps T4's name of a failure to Kernel Tuner's name. Kernel Tuner has a single name for several of T4's names, so an
// entry also keeps T4's name, as "invalidity".
const std::map<std::string, std::string>& failure_names() {
    static const std::map<std::string, std::string> names{
        {"constraints", "InvalidConfig"},   {"compile", "CompilationFailedConfig"}, {"runtime", "RuntimeFailedConfig"},
        {"timeout", "RuntimeFailedConfig"}, {"correctness", "RuntimeFailedConfig"},
    };
    return names;
}

std::string objective_of(const TuningResults& results) {
    const auto found = results.header.find("objective");
    return found != results.header.end() && found->is_string() ? found->get<std::string>() : "time";
}

std::string invalidity_of(const Fields& entry) {
    if (entry.contains("invalidity") && entry["invalidity"].is_string()) return entry["invalidity"].get<std::string>();
    if (!is_failure(entry)) return "correct";
    for (const auto& [key, value] : entry.items()) {
        for (const auto* name : {"constraints", "compile"}) {
            if (value == failure_names().at(name)) return name;
        }
    }
    return "runtime";
}

const char* t4_time(const std::string& name) {
    for (const auto& [ours, theirs] : time_names) {
        if (name == ours) return theirs;
    }
    return nullptr;
}

// Whether T4 allows this value as a measurement. Other values become fields of the result, which may have any type.
bool may_be_measurement(const Fields& value) { return value.is_number() || value.is_string() || value.is_array(); }

Fields t4_result(const TuningResults& results, const Fields& entry) {
    Fields result{{"configuration", Fields::object()}, {"times", Fields::object()}};
    for (const auto& name : results.parameters) result["configuration"][name] = entry.at(name);
    result["invalidity"] = invalidity_of(entry);
    result["correctness"] = entry.contains("correctness") ? entry["correctness"] : Fields(is_failure(entry) ? 0 : 1);
    auto measurements = Fields::array();
    const auto units = entry.find("units");
    for (const auto& [name, value] : entry.items()) {
        if (result["configuration"].contains(name) || name == "invalidity" || name == "correctness" ||
            name == "units") {
            continue;
        }
        if (const auto* time = t4_time(name); time != nullptr) {
            result["times"][time] = value;
        } else if (name == "timestamp" || name == "objectives" || !may_be_measurement(value)) {
            result[name] = value;
        } else {
            Fields measurement{{"name", name}, {"value", value}, {"unit", name.starts_with("time") ? "ms" : ""}};
            if (units != entry.end() && units->contains(name)) measurement["unit"] = (*units)[name];
            measurements.push_back(std::move(measurement));
        }
    }
    if (!result.contains("objectives")) result["objectives"] = Fields::array({objective_of(results)});
    result["measurements"] = std::move(measurements);
    return result;
}

void add_times(Fields& entry, const Fields& times) {
    for (const auto& [name, value] : times.items()) {
        const auto* known =
            std::ranges::find_if(time_names, [&, &text = name](const auto& pair) { return text == pair.second; });
        if (known != time_names.end()) {
            entry[known->first] = value;
        } else {
            entry[name == older_compilation ? "compile_time" : name] = value;
        }
    }
}

void add_measurements(Fields& entry, const Fields& measurements) {
    for (const auto& each : measurements) {
        if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) continue;
        const auto name = each["name"].get<std::string>();
        entry[name] = each.contains("value") ? each["value"] : Fields();
        const auto unit = each.value("unit", std::string());
        if (unit != (name.starts_with("time") ? "ms" : "")) entry["units"][name] = unit;
    }
}

// Removes the fields of an entry that t4_result() would derive from the entry's other fields.
void drop_implied(Fields& entry) {
    for (const auto* name : {"invalidity", "correctness"}) {
        auto without = entry;
        without.erase(name);
        const auto derived = std::string_view(name) == "invalidity" ? Fields(invalidity_of(without))
                                                                    : Fields(is_failure(without) ? 0 : 1);
        if (entry.contains(name) && entry[name] == derived) entry = std::move(without);
    }
}

Fields entry_of(const std::string& path, const Fields& result) {
    if (!result.is_object() || !result.contains("configuration") || !result["configuration"].is_object())
        reject_format(path, R"(one of its "results" has no "configuration"; repair or remove it)");
    auto entry = result["configuration"];
    if (result.contains("times") && result["times"].is_object()) add_times(entry, result["times"]);
    if (result.contains("measurements") && result["measurements"].is_array())
        add_measurements(entry, result["measurements"]);
    for (const auto& [name, value] : result.items()) {
        if (name != "configuration" && name != "times" && name != "measurements") entry[name] = value;
    }
    const auto failure = failure_names().find(invalidity_of(entry));
    if (failure != failure_names().end() && !is_failure(entry)) entry["__error__"] = failure->second;
    drop_implied(entry);
    return entry;
}

}  // namespace

TuningResults parse_t4(const std::string& path, const std::string& text) {
    auto file = python_parse(text);
    if (file.is_discarded()) reject_format(path, "is not JSON; copy it again");
    if (!file.is_object() || !file.contains("results") || !file["results"].is_array())
        reject_format(path, R"(is JSON, but no T4 file: it lacks "results")");
    TuningResults results;
    if (file.contains("metadata") && file["metadata"].is_object()) results.header = file["metadata"];
    results.header.erase("timeunit");
    for (const auto& result : file["results"]) {
        results.entries.push_back(entry_of(path, result));
        if (results.parameters.empty()) {
            for (const auto& [name, value] : result["configuration"].items()) results.parameters.push_back(name);
        }
        const auto& configuration = result["configuration"];
        if (configuration.size() != results.parameters.size() ||
            !std::ranges::all_of(results.parameters, [&](const auto& name) { return configuration.contains(name); })) {
            reject_format(path, "its results have different parameters; split it");
        }
    }
    for (auto& entry : results.entries) {
        if (entry.contains("objectives") && entry["objectives"] == Fields::array({objective_of(results)}))
            entry.erase("objectives");
    }
    return results;
}

std::string t4_text(const TuningResults& results) {
    Fields file{{"schema_version", "1.0.0"}, {"metadata", results.header}, {"results", Fields::array()}};
    file["metadata"]["timeunit"] = "milliseconds";
    for (const auto& entry : results.entries) file["results"].push_back(t4_result(results, entry));
    return python_dump(file) + "\n";
}

}  // namespace smemtune
