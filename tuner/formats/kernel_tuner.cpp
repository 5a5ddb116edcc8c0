#include <algorithm>

#include "tuner/formats/formats.h"

namespace smemtune {

namespace {

// Parses a cache file of Kernel Tuner. The file of an interrupted run lacks its closing braces: it ends after the comma
// of an entry, or within an entry.
Fields open_or_closed(const std::string& path, std::string text) {
    auto parsed = python_parse(text);
    if (!parsed.is_discarded()) return parsed;
    text.erase(text.find_last_not_of(" \t\r\n,") + 1);
    parsed = python_parse(text + "}}");
    if (!parsed.is_discarded()) return parsed;
    if (const auto entry = text.rfind("},\n"); entry != std::string::npos) {
        parsed = python_parse(text.substr(0, entry) + "}}}");
        if (!parsed.is_discarded()) return parsed;
    }
    reject_format(path, "is not JSON; give a cache of Kernel Tuner, T4 results, a wisdom file or CSV");
}

// Formats a value as Python's str() does.
std::string python_str(const Fields& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
    return python_dump(value);
}

std::string key_of(const std::vector<std::string>& parameters, const Fields& entry) {
    std::string key;
    for (const auto& name : parameters) key += (key.empty() ? "" : ",") + python_str(entry.at(name));
    return key;
}

}  // namespace

TuningResults parse_kernel_tuner(const std::string& path, const std::string& text) {
    auto file = open_or_closed(path, text);
    if (!file.is_object() || !file.contains("cache") || !file["cache"].is_object() ||
        !file.contains("tune_params_keys") || !file["tune_params_keys"].is_array()) {
        reject_format(path, R"(is JSON, but no cache of Kernel Tuner: it lacks "tune_params_keys" or "cache")");
    }
    TuningResults results;
    for (const auto& name : file["tune_params_keys"]) {
        if (!name.is_string()) reject_format(path, R"(its "tune_params_keys" are not all names; repair it)");
        results.parameters.push_back(name.get<std::string>());
    }
    for (const auto& [key, entry] : file["cache"].items()) {
        const auto lacks = [&, &it = entry](const std::string& name) { return !it.contains(name); };
        if (!entry.is_object() || std::ranges::any_of(results.parameters, lacks))
            reject_format(path, "its entry \"" + key + "\" lacks a parameter; repair or remove it");
        results.entries.push_back(entry);
    }
    file.erase("cache");
    file.erase("tune_params_keys");
    results.header = std::move(file);
    return results;
}

// Kernel Tuner recognises a closed file by its last three characters, "}\n}". It reads one entry from each line.
std::string kernel_tuner_text(const TuningResults& results) {
    auto header = results.header;
    header["tune_params_keys"] = results.parameters;
    auto text = python_dump(header);
    text.pop_back();
    text += ",\n\"cache\": {";
    const char* separator = "\n";
    for (const auto& entry : results.entries) {
        text += separator + python_dump(key_of(results.parameters, entry)) + ": " + python_dump(entry);
        separator = ",\n";
    }
    return text + "}\n}";
}

}  // namespace smemtune
