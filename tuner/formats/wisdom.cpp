#include <algorithm>
#include <array>
#include <sstream>

#include "tuner/formats/formats.h"

namespace smemtune {

namespace {

constexpr const char* wisdom_version = "1.0";
constexpr std::size_t most_extents = 3;

// Each line of a wisdom file has an object "environment". Two problems with the same device and size may differ in
// these fields of that object.
constexpr std::array details{"compute_capability", "operation", "type", "layout", "template_hash"};

Fields parse_wisdom_header(const std::string& path, const std::string& line) {
    auto header = python_parse(line);
    if (header.is_discarded() || !header.is_object()) reject_format(path, "its first line is not JSON; copy it again");
    if (header.value("version", "") != wisdom_version) {
        reject_format(path, "is a wisdom file of version " + header.value("version", std::string("(none)")) +
                                "; only version 1.0 can be read");
    }
    if (!header.contains("tunable_parameters") || !header["tunable_parameters"].is_array())
        reject_format(path, R"(its first line lacks "tunable_parameters"; copy it again)");
    return header;
}

Fields wisdom_header(const TuningResults& results) {
    Fields header{{"version", wisdom_version},
                  {"objective", results.header.value("objective", "time")},
                  {"tunable_parameters", results.parameters},
                  {"key", results.header.value("kernel_name", "")}};
    return header;
}

Fields wisdom_line(const TuningResults& results, const Fields& entry) {
    const auto objective = results.header.value("objective", "time");
    Fields line{{"config", Fields::array()},
                {"problem_size", results.header.value("problem_size", Fields::array())},
                {objective, entry.at(objective)}};
    if (!line["problem_size"].is_array()) line["problem_size"] = Fields::array({line["problem_size"]});
    if (line["problem_size"].size() > most_extents) {
        throw std::invalid_argument("wisdom: the problem " + line["problem_size"].dump() +
                                    " has more than the three extents that a wisdom file can hold; take kernel-tuner, "
                                    "t4 or csv");
    }
    for (const auto& name : results.parameters) line["config"].push_back(entry.at(name));
    line["environment"] = entry.contains("environment") ? entry["environment"] : Fields::object();
    line["environment"]["device_name"] = results.header.value("device_name", "");
    for (const auto* name : details) {
        if (results.header.contains(name)) line["environment"][name] = results.header[name];
    }
    if (entry.contains("timestamp") && !line["environment"].contains("date"))
        line["environment"]["date"] = entry["timestamp"];
    return line;
}

// Returns the element of `all` for the device and problem of `line`; adds an element if there is none.
TuningResults& results_of(std::vector<TuningResults>& all, const Fields& header, const Fields& line) {
    const auto& environment = line["environment"];
    Fields problem{{"device_name", environment.value("device_name", "")},
                   {"kernel_name", header.value("key", "")},
                   {"problem_size", line["problem_size"]},
                   {"objective", header.value("objective", "time")}};
    for (const auto* name : details) {
        if (environment.contains(name)) problem[name] = environment[name];
    }
    const auto known = std::ranges::find(all, problem, &TuningResults::header);
    if (known != all.end()) return *known;
    auto& created = all.emplace_back();
    created.header = std::move(problem);
    created.parameters = header["tunable_parameters"].get<std::vector<std::string>>();
    return created;
}

}  // namespace

bool wisdom_holds(const Fields& entry, const std::string& objective) {
    return !is_failure(entry) && entry.contains(objective) && entry[objective].is_number();
}

std::vector<TuningResults> parse_wisdom(const std::string& path, const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    const auto header = parse_wisdom_header(path, line);
    std::vector<TuningResults> all;
    for (std::size_t number = 2; std::getline(lines, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#') || line.starts_with("//"))
            continue;
        auto record = python_parse(line);
        if (record.is_discarded() || !record.is_object() || !record.contains("config") ||
            !record.contains("problem_size") || !record.contains("environment") || !record["environment"].is_object() ||
            record["config"].size() != header["tunable_parameters"].size()) {
            reject_format(path, "line " + std::to_string(number) + " is no result; repair or remove it");
        }
        auto& results = results_of(all, header, record);
        Fields entry;
        for (std::size_t i = 0; i < results.parameters.size(); ++i) entry[results.parameters[i]] = record["config"][i];
        for (const auto& [name, value] : record.items()) {
            if (name != "config" && name != "problem_size") entry[name] = value;
        }
        results.entries.push_back(std::move(entry));
    }
    return all;
}

std::string wisdom_text(const std::vector<TuningResults>& results) {
    const auto header = wisdom_header(results.at(0));
    auto text = python_dump(header) + "\n";
    std::size_t held = 0;
    for (const auto& each : results) {
        if (wisdom_header(each) != header) {
            throw std::invalid_argument("wisdom holds the results of one kernel; choose it with --templates");
        }
        auto entries = each.entries;
        const auto objective = header["objective"].get<std::string>();
        std::erase_if(entries, [&](const Fields& entry) { return !wisdom_holds(entry, objective); });
        held += entries.size();
        std::ranges::stable_sort(entries, {}, [&](const Fields& entry) { return entry[objective].get<double>(); });
        for (const auto& entry : entries) text += python_dump(wisdom_line(each, entry)) + "\n";
    }
    if (held == 0) throw std::invalid_argument("wisdom cannot hold failures, and all results are failures; take csv");
    return text;
}

}  // namespace smemtune
