#include "tuner/page/data/importance_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tuner/analysis/stored_importance.h"

namespace smemtune {

namespace {

constexpr std::size_t most_pairs_shown = 5;

}  // namespace

void ImportanceData::add(const Group& group, const Configuration& configuration, const Outcome& outcome) {
    try {
        tables_[group].add(configuration, outcome);
    } catch (const std::invalid_argument&) {
        mixed_.insert(group);
    }
}

std::vector<ImportanceData::Group> ImportanceData::largest() const {
    std::vector<Group> groups;
    for (const auto& [group, table] : tables_) {
        if (!mixed_.contains(group)) groups.push_back(group);
    }
    std::ranges::stable_sort(groups, [this](const Group& a, const Group& b) {
        return tables_.at(a).rows.size() > tables_.at(b).rows.size();
    });
    auto left = most_analysed_trials;
    std::erase_if(groups, [&](const Group& group) {
        const auto trials = tables_.at(group).rows.size();
        if (trials > left) return true;
        left -= trials;
        return false;
    });
    return groups;
}

nlohmann::json ImportanceData::analysed(const Group& group, const Origin& origin) const {
    const auto space = valid_configurations(origin.kernel, origin.problem, origin.device);
    const auto found = importance(tables_.at(group), space ? &*space : nullptr);
    nlohmann::json value{{"device", group.device}, {"problem", group.problem}, {"template", group.kernel_template}};
    if (!found.too_little.empty()) {
        value["too_little"] = found.too_little;
        return value;
    }
    value["method"] = found.method;
    value["explained"] = found.explained;
    value["exact"] = found.exact;
    value["measured"] = found.measured;
    value["shares"] = nlohmann::json::array();
    for (const auto& parameter : found.parameters) {
        value["shares"].push_back({{"name", parameter.name}, {"share", parameter.share}});
    }
    value["pairs"] = nlohmann::json::array();
    for (const auto& pair : found.pairs) {
        if (value["pairs"].size() == most_pairs_shown) break;
        value["pairs"].push_back({{"first", pair.first}, {"second", pair.second}, {"share", pair.share}});
    }
    return value;
}

nlohmann::json ImportanceData::to_json(const std::function<Origin(const Group&)>& origin) const {
    auto list = nlohmann::json::array();
    for (const auto& group : largest()) list.push_back(analysed(group, origin(group)));
    return list;
}

}  // namespace smemtune
