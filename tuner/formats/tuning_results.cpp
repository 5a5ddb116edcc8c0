#include "tuner/formats/tuning_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tuner/formats/formats.h"
#include "tuner/replay/json_numbers.h"

namespace smemtune {

void reject_format(const std::string& path, const std::string& what) {
    throw std::invalid_argument(path + ": " + what);
}

bool is_failure(const Fields& entry) {
    static constexpr std::array failures{"InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig",
                                         "ErrorConfig"};
    const auto names_one = [](const Fields& value) {
        return value.is_string() && std::ranges::find(failures, value.get_ref<const std::string&>()) != failures.end();
    };
    return entry.contains("__error__") ||
           std::ranges::any_of(entry.items(), [&](const auto& item) { return names_one(item.value()); });
}

const std::vector<std::string>& result_formats() {
    static const std::vector<std::string> names{"kernel-tuner", "t4", "wisdom", "csv"};
    return names;
}

std::string format_of(std::string_view text) {
    const auto start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || text[start] != '{') return "csv";
    const auto first_line = text.substr(0, text.find('\n'));
    if (first_line.find("\"tunable_parameters\"") != std::string_view::npos) return "wisdom";
    const auto cache = text.find("\"cache\"");
    return text.find("\"results\"") < cache ? "t4" : "kernel-tuner";
}

namespace {

// Removes the JSON library's prefix from the error's message. What is left is text such as `type must be string, but is
// object`.
std::string reason_of(const nlohmann::json::exception& error) {
    const std::string text = error.what();
    return text.substr(text.find("] ") + 2);
}

std::vector<TuningResults> parse_as(const std::string& format, const std::string& path, const std::string& text) {
    if (format == "csv") return parse_csv(path, text);
    if (format == "wisdom") return parse_wisdom(path, text);
    return {format == "t4" ? parse_t4(path, text) : parse_kernel_tuner(path, text)};
}

std::string text_as(const std::string& format, const std::vector<TuningResults>& results) {
    if (format == "csv") return results_csv_text(results);
    if (format == "wisdom") return wisdom_text(results);
    if (results.size() != 1) {
        throw std::invalid_argument(
            fmt::format("{} holds the results of one combination of kernel, device and problem, but there are {} "
                        "combinations; choose one with --device, --templates and --sizes, or take csv",
                        format, results.size()));
    }
    return format == "t4" ? t4_text(results[0]) : kernel_tuner_text(results[0]);
}

}  // namespace

std::vector<TuningResults> parse_results(const std::string& path, const std::string& text) {
    const auto format = format_of(text);
    std::vector<TuningResults> results;
    try {
        results = parse_as(format, path, text);
    } catch (const NumberOutOfRange& error) {
        reject_format(path, error.what());
    } catch (const nlohmann::json::exception& error) {
        reject_format(path, fmt::format("read as {}, it has a value of the wrong type ({}); repair or remove it",
                                        format, reason_of(error)));
    }
    std::erase_if(results, [](const TuningResults& each) { return each.entries.empty(); });
    if (results.empty()) reject_format(path, "holds no result; give a file that holds configurations");
    return results;
}

std::string results_text(const std::string& format, const std::vector<TuningResults>& results) {
    try {
        return text_as(format, results);
    } catch (const nlohmann::json::exception& error) {
        throw std::invalid_argument(
            fmt::format("{} cannot hold these results: a value is missing or of the wrong type ({}); take csv", format,
                        reason_of(error)));
    }
}

}  // namespace smemtune
