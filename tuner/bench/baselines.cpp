#include "tuner/bench/baselines.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tuner/report/text.h"

namespace smemtune {

namespace {

PreviousReport read_earlier(const std::string& path) {
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    try {
        return {path, json.value("commit", ""), json.value("date", ""),
                json.value("/device/name"_json_pointer, std::string()), figures_of(json)};
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("--against " + path + ": " + error.what());
    } catch (const nlohmann::json::exception&) {
        throw std::invalid_argument("--against " + path + " is no JSON object");
    }
}

}  // namespace

Baselines parse_baselines(const std::string& list) {
    Baselines against;
    for (const auto& item : split(list, ',')) {
        if (item == "cublas" || item == "cublaslt") {
            against.libraries.push_back(item);
        } else if (!std::filesystem::is_regular_file(item)) {
            throw std::invalid_argument("--against '" + item + "' is neither cublas, cublaslt nor a file");
        } else if (!item.ends_with(".json")) {
            against.databases.emplace_back(item);
        } else if (!against.earlier) {
            against.earlier = read_earlier(item);
        } else {
            throw std::invalid_argument("--against takes one JSON file, not both " + against.earlier->path + " and " +
                                        item);
        }
    }
    // An earlier file alone is to be compared with the same again.
    if (against.libraries.empty() && against.databases.empty()) against.libraries = {"cublas", "cublaslt"};
    return against;
}

std::string since(const PreviousReport& earlier, const BenchReport& report) {
    const auto& device = report.provenance.device.name;
    const auto other = earlier.device == device ? "" : ", on another device: " + earlier.device;
    return fmt::format("\nsince {} (commit {}, {}{})\n", earlier.path, earlier.commit, earlier.date, other) +
           to_text(changes(earlier.figures, figures_of(report.problems)));
}

}  // namespace smemtune
