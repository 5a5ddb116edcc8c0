#include "tuner/page/data/page_comparison.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "tuner/analysis/winner_comparison.h"
#include "tuner/report/json.h"

namespace smemtune {

namespace {

using nlohmann::json;

json compared(const TrialRow& row) {
    const auto& measured = std::get<Measurement>(row.record.outcome);
    json value{{"trial", row.id},
               {"template", row.kernel_template},
               {"configuration", to_text(row.record.configuration)},
               {"us", measured.median_us}};
    if (const auto interval = median_interval(measured)) value["interval"] = *interval;
    return value;
}

}  // namespace

json compared_winners(const Store& store, const std::filesystem::path& against, const Store::Filter& filter) {
    const Store other(against, Store::Access::read);
    auto list = json::array();
    for (const auto& pair : winner_pairs(store, other, filter)) {
        if (!pair.first || !pair.second) continue;
        list.push_back({{"device", pair.device},
                        {"problem", to_text(pair.problem)},
                        {"ours", compared(*pair.first)},
                        {"theirs", compared(*pair.second)}});
    }
    return {{"name", against.filename().string()}, {"winners", std::move(list)}};
}

json vendor_times(const std::string& text) {
    try {
        const auto bench = json::parse(text);
        json result{{"device", bench.at("device").at("name")}, {"date", bench.value("date", "")}};
        if (bench.contains("copy_bytes_per_second")) {
            result["copy_bytes_per_second"] = bench["copy_bytes_per_second"].get<double>();
        }
        auto times = json::array();
        for (const auto& entry : bench.at("problems")) {
            const auto problem = entry.at("problem").get<Problem>();
            const auto caches = entry.value("caches", json::object());
            for (const auto& [cache, measured] : caches.items()) {
                const auto competitors = measured.value("against", json::object());
                for (const auto& [name, theirs] : competitors.items()) {
                    if (!theirs.contains("theirs_us")) continue;  // the competitor was not measured
                    times.push_back({{"problem", to_text(problem)},
                                     {"cache", cache},
                                     {"name", name},
                                     {"us", theirs.at("theirs_us").get<double>()},
                                     {"ratio", theirs.at("ratio").get<double>()},
                                     {"interval", theirs.at("interval").get<std::pair<double, double>>()}});
                }
            }
        }
        result["times"] = std::move(times);
        return result;
    } catch (const json::exception& error) {
        throw std::invalid_argument(std::string("not what 'smemtune bench --json' prints: ") + error.what());
    }
}

}  // namespace smemtune
