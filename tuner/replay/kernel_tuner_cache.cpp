#include "tuner/replay/kernel_tuner_cache.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "tuner/replay/json_numbers.h"

namespace smemtune {

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw std::invalid_argument(path + ": " + what);
}

// Puts NaN, Infinity and -Infinity in quotes. Python writes them without quotes, which JSON does not allow.
void quote_non_finite(std::string& text) {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
                if (std::string_view(text).substr(i, word.size()) != word) continue;
                text[i] = text[i + word.size() - 1] = '"';
                i += word.size() - 1;
                break;
            }
        }
    }
}

// A run of Kernel Tuner appends one entry per line, each followed by a comma, and writes the closing braces at its end.
// The file of an interrupted run lacks these braces. It may end within an entry, which is then dropped.
json parse_open_or_closed(const std::string& path, std::string text) {
    quote_non_finite(text);
    try {
        check_numbers(text);
    } catch (const NumberOutOfRange& error) {
        fail(path, error.what());
    }
    auto parsed = json::parse(text, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
    text.erase(text.find_last_not_of(" \t\r\n,") + 1);
    parsed = json::parse(text + "}}", nullptr, false);
    if (!parsed.is_discarded()) return parsed;
    if (const auto entry = text.rfind("},\n"); entry != std::string::npos) {
        parsed = json::parse(text.substr(0, entry) + "}}}", nullptr, false);
        if (!parsed.is_discarded()) return parsed;
    }
    fail(path, "is not JSON; give a cache file of Kernel Tuner, gzipped or not, or a database of smemtune");
}

constexpr int most_list_levels = 3;  // the deepest nesting of lists in a parameter's value
struct TooDeep {};

bool nests_deeper(const json& value, int levels) {
    if (!value.is_structured()) return false;
    return levels == 0 || std::ranges::any_of(value, [&](const json& each) { return nests_deeper(each, levels - 1); });
}

// Returns a JSON value as text. dump() is recursive, so values that nest too deeply are refused before they overflow
// the stack.
std::string spelling(const json& value) {
    if (nests_deeper(value, most_list_levels)) throw TooDeep();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    // Converts 16.0 to 16. A double beyond 2^53 may differ from the number in the file, so it is not converted.
    if (value.is_number_float() && std::abs(value.get<double>()) < 0x1p53 &&
        std::trunc(value.get<double>()) == value.get<double>()) {
        return std::to_string(static_cast<std::int64_t>(value.get<double>()));
    }
    return value.dump();
}

std::string problem_text(const json& header) {
    const auto problem = header.find("problem_size");
    if (problem == header.end()) return "";
    if (!problem->is_array()) return spelling(*problem);
    std::string text;
    for (const auto& extent : *problem) text += (text.empty() ? "" : "x") + spelling(extent);
    return text;
}

std::string text_or(const json& header, const char* key, const std::string& otherwise) {
    const auto found = header.find(key);
    return found != header.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

// Whether the objective is a metric that Kernel Tuner maximises.
bool is_rate(const std::string& objective) {
    static constexpr std::array rates{"GFLOP/s",  "TFLOP/s",  "GB/s",    "TB/s",
                                      "GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J"};
    return std::ranges::find(rates, objective) != rates.end();
}

// Kernel Tuner writes a failure as a string, under the objective or under "__error__". When it reads a cache, it
// accepts failures under any key, and so does this function.
bool is_failure(const json& entry, const std::vector<RecordedParameter>& parameters) {
    static constexpr std::array failures{"InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig",
                                         "ErrorConfig"};
    if (entry.contains("__error__")) return true;
    for (const auto& [key, value] : entry.items()) {
        if (!value.is_string() || std::ranges::find(parameters, key, &RecordedParameter::name) != parameters.end())
            continue;
        if (std::ranges::find(failures, value.get_ref<const std::string&>()) != failures.end()) return true;
    }
    return false;
}

class Reader {
public:
    Reader(const std::string& path, const json& cache) : path_(path), cache_(cache) {
        if (!cache.is_object() || !cache.contains("cache") || !cache["cache"].is_object() ||
            !cache.contains("tune_params_keys") || !cache["tune_params_keys"].is_array()) {
            fail(
                path,
                R"(is JSON, but not a cache of Kernel Tuner: it lacks "tune_params_keys" or "cache"; give another file)");
        }
        if (cache["cache"].empty()) fail(path, "is an empty cache; give one that holds configurations");
        objective_ = text_or(cache, "objective", "time");
    }

    Recording read() {
        recording_.device = text_or(cache_, "device_name", "unknown device");
        recording_.kernel = text_or(cache_, "kernel_name", "unknown kernel");
        recording_.problem = problem_text(cache_);
        recording_.objective = objective_ == "time" ? "ms" : (is_rate(objective_) ? "1 / " : "") + objective_;
        declare_parameters();
        bool known = false;
        for (const auto& [key, entry] : cache_["cache"].items()) {
            if (!entry.is_object()) fail(path_, "its entry \"" + key + "\" is not a JSON object; repair or remove it");
            known = known || entry.contains(objective_) || is_failure(entry, recording_.parameters);
            auto& read = recording_.entries.emplace_back();
            for (std::size_t i = 0; i < recording_.parameters.size(); ++i) {
                const auto value = entry.find(recording_.parameters[i].name);
                if (value == entry.end()) {
                    fail(path_, "its entry \"" + key + "\" gives \"" + recording_.parameters[i].name +
                                    "\" no value; repair or remove it");
                }
                read.values.push_back(value_index(i, spelling(*value)));
            }
            read.cost = cost_of(entry);
        }
        if (!known)
            fail(path_, R"(no entry has the objective ")" + objective_ + R"("; correct "objective" in its header)");
        return std::move(recording_);
    }

private:
    void declare_parameters() {
        for (const auto& key : cache_["tune_params_keys"]) {
            const auto name = spelling(key);
            recording_.parameters.push_back({.name = name, .values = {}});
            indices_.emplace_back();
            const auto declared = cache_.find("tune_params");
            if (declared == cache_.end() || !declared->is_object() || !declared->contains(name)) continue;
            for (const auto& value : (*declared)[name]) {
                (void)value_index(recording_.parameters.size() - 1, spelling(value));
            }
        }
    }

    std::size_t value_index(std::size_t parameter, const std::string& spelled) {
        auto& values = recording_.parameters[parameter].values;
        const auto [at, is_new] = indices_[parameter].try_emplace(spelled, values.size());
        if (is_new) values.push_back(spelled);
        return at->second;
    }

    [[nodiscard]] std::optional<double> cost_of(const json& entry) const {
        const auto value = entry.find(objective_);
        if (value == entry.end() || !value->is_number() || is_failure(entry, recording_.parameters))
            return std::nullopt;
        const auto number = value->get<double>();
        if (!std::isfinite(number) || number <= 0) return std::nullopt;
        return is_rate(objective_) ? 1 / number : number;
    }

    const std::string& path_;
    const json& cache_;
    std::string objective_;
    Recording recording_;
    std::vector<std::unordered_map<std::string, std::size_t>>
        indices_;  // for each parameter: the index of each spelling
};

}  // namespace

Recording parse_kernel_tuner_cache(const std::string& path, std::string text) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) fail(path, "is empty; give a recorded cache");
    const auto cache = parse_open_or_closed(path, std::move(text));
    try {
        return Reader(path, cache).read();
    } catch (const TooDeep&) {
        fail(path, "has a value that nests lists deeper than " + std::to_string(most_list_levels) + " levels");
    }
}

}  // namespace smemtune
