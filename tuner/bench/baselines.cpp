#include "tuner/bench/baselines.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tuner/report/text.h"

namespace smemtune {

namespace {

PreviousReport read_previous(const std::string& path) {
    std::ifstream file(path);
    const auto report = nlohmann::json::parse(file, nullptr, false);
    try {
        return {path, report.value("commit", ""), report.value("date", ""),
                report.value("/device/name"_json_pointer, std::string()), figures_of(report)};
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("--against " + path + ": " + error.what());
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument("--against " + path + " is no JSON object");
    }
}

}  // namespace

Baselines parse_baselines(const std::string& list) {
    Baselines baselines;
    for (const auto& item : split(list, ',')) {
        if (item == "cublas" || item == "cublaslt") {
            baselines.libraries.push_back(item);
        } else if (!std::filesystem::is_regular_file(item)) {
            throw std::invalid_argument("--against '" + item + "' is neither cublas, cublaslt nor a file");
        } else if (!item.ends_with(".json")) {
            baselines.databases.emplace_back(item);
        } else if (!baselines.previous) {
            baselines.previous = read_previous(item);
        } else {
            throw std::invalid_argument("--against takes one JSON file, not both " + baselines.previous->path +
                                        " and " + item);
        }
    }
    // If only a previous report is given, both libraries are measured, because the report has ratios to them.
    if (baselines.libraries.empty() && baselines.databases.empty()) baselines.libraries = {"cublas", "cublaslt"};
    return baselines;
}

std::string changes_since(const PreviousReport& previous, const BenchReport& report) {
    const auto& device = report.provenance.device.name;
    const auto other = previous.device == device ? "" : ", on another device: " + previous.device;
    return fmt::format("\nsince {} (commit {}, {}{})\n", previous.path, previous.commit, previous.date, other) +
           to_text(changes(previous.figures, figures_of(report.problems)));
}

}  // namespace smemtune
